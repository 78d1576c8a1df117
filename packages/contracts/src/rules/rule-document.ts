import { type Static, Type } from '@sinclair/typebox';
import { assetFacts, documentSchemas, importSchemas, published } from './asset-fields';
import { ruleFields } from './rule-fields';

const { id, slug, ...facts } = documentSchemas(assetFacts);

/** A rule as exported: camel case, so that an export can be imported again unchanged. */
export const RuleDocument = Type.Object(
  {
    ...{ id, slug },
    ...documentSchemas(ruleFields),
    ...{ published, ...facts },
    ignored: Type.Optional(
      Type.Array(
        Type.Object({
          field: Type.String({ description: 'Path of the field.' }),
          reason: Type.String({ description: 'Why it was not stored, in a sentence.' }),
        }),
        {
          description: 'The unknown fields of an import, which were not stored.',
        },
      ),
    ),
  },
  { $id: 'RuleDocument', description: 'A rule: its draft, and whether and when it was published.' },
);
export type RuleDocument = Static<typeof RuleDocument>;

/**
 * A rule as imported. With a known `id` only the given fields change; with an unknown `id` the rule is created under it; without one, id and
 * slug are generated. Fields that occur only in exports are accepted and change nothing; unknown fields are ignored and reported, and those that
 * look like a known one are rejected.
 */
export const RuleImport = Type.Object(
  {
    id: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'Id of the rule, a UUID: a known one changes it, an unknown one makes it. Default: one is made.',
      }),
    ),
    slug: Type.Optional(
      Type.String({
        pattern: '^[a-z0-9]+(?:[-_][a-z0-9]+)*$',
        maxLength: 200,
        description:
          'Name in solve addresses, at most 200 characters: lower-case letters and digits with `-` or `_` between them. Default of a new rule: made of its name.',
      }),
    ),
    ...importSchemas(ruleFields),
    user_groups: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
        maxItems: 100,
        description:
          'Who sees the rule. A key that is restricted to groups adds and removes only its own. Default of a new rule: the groups of the key.',
      }),
    ),
    _publish: Type.Optional(Type.Boolean({ description: 'Publish the draft as a new version.' })),
    _unpublish: Type.Optional(Type.Boolean({ description: 'Take every published version out of service.' })),
  },
  { $id: 'RuleImport', description: 'A new rule, or the fields of a rule that change.' },
);
export type RuleImport = Static<typeof RuleImport>;
