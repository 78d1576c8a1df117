import { type Static, Type } from '@sinclair/typebox';
import { type AssetKind, assetKinds } from '../asset-pointer';
import { LoggingSettings } from '../rules/logging-settings';
import { type FieldType, fieldTypes, RuleField } from '../rules/rule-table';
import { compileValidator } from '../validator';
import { FlowConnection, type FlowGraph, FlowNode } from './flow-document';

/**
 * One distinct asset that nodes of a flow reference, as resolved when the flow was published. At run time a number means `version_id`; `latest`
 * and an environment follow the slug, and mean `version_id` if the asset is gone.
 */
export const FlowUse = Type.Object(
  {
    kind: Type.Unsafe<AssetKind>({ type: 'string', enum: [...assetKinds] }),
    slug: Type.String({ description: 'As the nodes name it.' }),
    selector: Type.String({ description: '`latest`, a number or the slug of an environment, as the nodes say.' }),
    asset_id: Type.String({ format: 'uuid' }),
    version_id: Type.String({ format: 'uuid', description: 'The version behind the selector at publication.' }),
  },
  { $id: 'FlowUse', description: 'A rule or flow that a flow runs.' },
);
export type FlowUse = Static<typeof FlowUse>;

/** Maximum number of fields in the input or the answer of a flow. */
const MOST_FIELDS = 10_000;
/** Maximum number of distinct assets that one flow references; it has fewer nodes. */
const MOST_USES = 100_000;

/** Settings of a flow that determine its answers. */
export const FlowSettings = Type.Object(
  {
    testing: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description:
          '`continuous`: publishing is refused while a critical test fails. Anything else, or null: it is not.',
      }),
    ),
    logging: Type.Optional(LoggingSettings),
    failedResponseMode: Type.Optional(
      Type.Unsafe<'return' | 'fail'>({
        type: 'string',
        enum: ['return', 'fail'],
        description:
          'Whether a failed evaluation is answered with status 200 and an `error`, or fails. Default: return.',
      }),
    ),
  },
  { $id: 'FlowSettings', description: 'Settings of a whole flow.', additionalProperties: true },
);
export type FlowSettings = Static<typeof FlowSettings>;

/** A field of the answer of a flow. */
export const FlowField = Type.Object({
  key: Type.String(),
  type: Type.Unsafe<FieldType | 'any'>({ type: 'string', enum: [...fieldTypes, 'any'] }),
});
export type FlowField = Static<typeof FlowField>;

/** The immutable content of a published version of a flow: everything that determines its answers. */
export const FlowDefinition = Type.Object(
  {
    /** The inputs of its origin node. */
    requestSchema: Type.Array(RuleField, { maxItems: MOST_FIELDS }),
    /** The fields that its result nodes answer. */
    responseSchema: Type.Array(FlowField, { maxItems: MOST_FIELDS }),
    nodes: Type.Array(FlowNode, { maxItems: 100_000 }),
    connections: Type.Array(FlowConnection, { maxItems: 100_000 }),
    settings: FlowSettings,
    uses: Type.Array(FlowUse, { maxItems: MOST_USES }),
    /** Whether a node of the flow, or of a flow that it runs, calls an external system. */
    reaches_out: Type.Boolean(),
  },
  { $id: 'FlowDefinition', description: 'A published version of a flow.' },
);
export type FlowDefinition = Static<typeof FlowDefinition> & Required<FlowGraph>;

export const checkFlowDefinition = compileValidator(FlowDefinition);
