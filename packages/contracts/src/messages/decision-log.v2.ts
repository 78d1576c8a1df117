import { type Static, Type } from '@sinclair/typebox';
import { type AssetKind, assetKinds } from '../asset-pointer';
import { compileValidator } from '../validator';

const Place = {
  producer: Type.String({ minLength: 1, description: 'Name of the process that wrote it; never used again.' }),
};

/** One input that was decided, or could not be. */
const DecisionItemV2 = Type.Object(
  {
    index: Type.Integer({ minimum: 0, description: 'Position in the request; 0 for a request of one input.' }),
    execution_id: Type.Optional(
      Type.String({ pattern: '^[0-9a-f]{32}$', description: 'Name of the run in the answer.' }),
    ),
    instance: Type.Optional(Type.String({ description: 'Instance of the context that it ran for.' })),
    status: Type.Integer({ minimum: 100, maximum: 599, description: 'HTTP status of this input.' }),
    code: Type.Optional(Type.String({ description: 'The error code, where it was not solved.' })),
    duration_us: Type.Integer({ minimum: 0, description: 'Evaluation, microseconds; of a chunk, the mean.' }),
    matched: Type.Array(Type.Integer({ minimum: 0 }), {
      description: 'Rows of the rule whose outputs make the response.',
    }),
    path_trace: Type.Optional(
      Type.Array(Type.Record(Type.String(), Type.Unknown()), {
        description: 'For a flow: the outcomes of its nodes in the order in which they ended, truncated to a size.',
      }),
    ),
    path_not_listed: Type.Optional(
      Type.Integer({ minimum: 1, description: 'How many nodes, within loops for each item, the trace leaves out.' }),
    ),
    stands_for: Type.Optional(
      Type.Integer({ minimum: 2, description: 'Requests that this one represents, including itself; default 1.' }),
    ),
    abbreviated: Type.Optional(Type.Literal(true, { description: 'Something was cut from request or response.' })),
    request: Type.Unknown({ description: 'Null if the input was not JSON, or is not kept.' }),
    response: Type.Record(Type.String(), Type.Unknown()),
  },
  { $id: 'DecisionItemV2', additionalProperties: false, description: 'One decision.' },
);

/**
 * The value of a message on `logs`, version 2: the results of one message of `solution`, one item for each input, or a rejection by a gateway.
 * `id` and an item's `index` identify a decision: an input that was evaluated twice, because a worker died before it could report the result, is
 * logged twice under one identity. A producer numbers its messages for each workspace from 0, so that a gap reveals lost messages.
 */
export const DecisionLogV2 = Type.Object(
  {
    v: Type.Literal(2),
    id: Type.String({ minLength: 1 }),
    ...Place,
    sequence: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER - 1,
      description: 'Counts the messages of the producer for this workspace.',
    }),
    kind: Type.Unsafe<AssetKind>({ type: 'string', enum: [...assetKinds] }),
    workspace_id: Type.String(),
    key_id: Type.String(),
    asset_id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()]),
    slug: Type.String(),
    selector: Type.String(),
    version_id: Type.String({ description: 'Empty if nothing was chosen before it was refused.' }),
    context: Type.Union([Type.String(), Type.Null()], {
      description: 'Slug of the context if it ran in an operation on an instance.',
    }),
    flow: Type.Union([Type.String(), Type.Null()], { description: 'Slug of the flow that asked for that operation.' }),
    request_id: Type.String(),
    trace_id: Type.Union([Type.String({ pattern: '^[0-9a-f]{32}$' }), Type.Null()]),
    received_at: Type.String({ format: 'date-time' }),
    items: Type.Array(DecisionItemV2, { minItems: 1 }),
  },
  {
    $id: 'DecisionLogV2',
    additionalProperties: false,
    description: 'Decisions of one request, or of one chunk of it.',
  },
);
export type DecisionLogV2 = Static<typeof DecisionLogV2>;

export const checkDecisionLogV2 = compileValidator(DecisionLogV2);

/** A report that a producer sends periodically and when it ends: the number of messages it has numbered for each workspace. */
export const ProducerReport = Type.Object(
  {
    v: Type.Literal(2),
    ...Place,
    reported_at: Type.String({ format: 'date-time' }),
    ended: Type.Boolean({ description: 'Whether it writes no more.' }),
    workspaces: Type.Array(
      Type.Object(
        { workspace_id: Type.String(), next: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) },
        { additionalProperties: false },
      ),
      { minItems: 1 },
    ),
  },
  { $id: 'ProducerReport', additionalProperties: false, description: 'How far a producer has counted.' },
);
export type ProducerReport = Static<typeof ProducerReport>;

export const checkProducerReport = compileValidator(ProducerReport);
