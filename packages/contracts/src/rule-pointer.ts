import { type Static, Type } from '@sinclair/typebox';
import { compileValidator } from './validator';

/** A published version, by number and by the immutable id that everything compiled is keyed by. */
export const VersionTarget = Type.Object(
  { version: Type.Integer({ minimum: 1 }), version_id: Type.String({ format: 'uuid' }) },
  { $id: 'VersionTarget', additionalProperties: false, description: 'One published version.' },
);
export type VersionTarget = Static<typeof VersionTarget>;

/** Current meaning of a slug: the entry behind `cacheKeys.rulePointer`. */
export const RulePointer = Type.Object(
  {
    rule_id: Type.String({ format: 'uuid' }),
    /** Empty: a key restricted to groups does not see the rule. */
    user_groups: Type.Array(Type.String()),
    /** Null: the rule is not published, and no selector solves it. */
    latest: Type.Union([VersionTarget, Type.Null()]),
    /** Live versions by the slug of their environment. An environment without one has no entry. */
    pins: Type.Record(Type.String(), VersionTarget),
  },
  { $id: 'RulePointer', additionalProperties: false, description: 'Where a slug points.' },
);
export type RulePointer = Static<typeof RulePointer>;

export const checkRulePointer = compileValidator(RulePointer);

/** The entry behind `cacheKeys.numberedVersion`; it never changes, and is gone with its rule. */
export const NumberedVersion = Type.Object(
  { version_id: Type.String({ format: 'uuid' }) },
  { $id: 'NumberedVersion', additionalProperties: false, description: 'The version behind a number of a rule.' },
);
export type NumberedVersion = Static<typeof NumberedVersion>;

export const checkNumberedVersion = compileValidator(NumberedVersion);
