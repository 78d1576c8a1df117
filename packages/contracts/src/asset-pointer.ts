import { type Static, Type } from '@sinclair/typebox';
import { compileValidator } from './validator';

/** Kinds of assets, which are published in versions, solved by slug, released and bound to contexts. */
export const assetKinds = ['rule', 'flow'] as const;
export type AssetKind = (typeof assetKinds)[number];

const versionFields = {
  version_id: Type.String({ format: 'uuid' }),
  /** Only for flows: whether a node of the flow, or of a flow that it runs, calls an external system. */
  reaches_out: Type.Optional(Type.Boolean()),
};

/** A published version, by number and by its immutable id, the key of all compiled forms. */
export const VersionTarget = Type.Object(
  { version: Type.Integer({ minimum: 1 }), ...versionFields },
  { $id: 'VersionTarget', additionalProperties: false, description: 'One published version.' },
);
export type VersionTarget = Static<typeof VersionTarget>;

/** Current meaning of a slug of one kind: the entry behind `cacheKeys.rulePointer` or `cacheKeys.flowPointer`. */
export const RulePointer = Type.Object(
  {
    /** Id of the rule or flow. */
    rule_id: Type.String({ format: 'uuid' }),
    /** Empty: a key restricted to groups does not see the asset. */
    user_groups: Type.Array(Type.String()),
    /** Null: the asset is not published, and no selector solves it. */
    latest: Type.Union([VersionTarget, Type.Null()]),
    /** Live versions by the slug of their environment. An environment without one has no entry. */
    pins: Type.Record(Type.String(), VersionTarget),
  },
  { $id: 'RulePointer', additionalProperties: false, description: 'Where a slug points.' },
);
export type RulePointer = Static<typeof RulePointer>;

export const checkRulePointer = compileValidator(RulePointer);

/** The entry behind `cacheKeys.numberedVersion`; it never changes, and is deleted with its asset. */
export const NumberedVersion = Type.Object(versionFields, {
  $id: 'NumberedVersion',
  additionalProperties: false,
  description: 'The version behind a number of a rule or flow.',
});
export type NumberedVersion = Static<typeof NumberedVersion>;

export const checkNumberedVersion = compileValidator(NumberedVersion);
