import { type Static, Type } from '@sinclair/typebox';
import { assetFacts, published, listedSchemas } from '../../rules/asset-fields';
import { RuleImport } from '../../rules/rule-document';
import { ruleFields } from '../../rules/rule-fields';
import { RuleDrift } from './rule-drift';
import { described } from '../../described';

const nullableText = Type.Union([Type.String(), Type.Null()]);

export const ListedRule = Type.Object(
  {
    ...listedSchemas({ ...assetFacts, ...ruleFields }),
    published,
    no_conditions: Type.Integer({ description: 'Number of rows.' }),
    drift: Type.Optional(Type.Array(RuleDrift, { description: 'With `include=drift`: empty if nothing drifted.' })),
  },
  { $id: 'ListedRule', description: 'A rule without its rows.' },
);
export type ListedRule = Static<typeof ListedRule>;

/** Filters of lists of assets. */
export const listAssetsQuery = {
  id: Type.Optional(Type.String({ description: 'Its id.' })),
  slug: Type.Optional(Type.String({ description: 'Its slug.' })),
  name: Type.Optional(Type.String({ description: 'Exact name.' })),
  search: Type.Optional(
    Type.String({ description: 'Part of the name, slug or description, any case.', maxLength: 200 }),
  ),
  labels: Type.Optional(
    Type.Array(Type.String(), { description: 'Comma-separated or repeated; all of them must be carried.' }),
  ),
  user_group: Type.Optional(Type.String({ description: 'Only what carries this group.' })),
  folder: Type.Optional(Type.String({ maxLength: 500, description: 'Id or name of the folder.' })),
  version: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        '`latest`, a version number or an environment. The other filters must then match exactly one, which is shown as it was ' +
        'published: none is 404, several are 400.',
    }),
  ),
  limit: Type.Optional(
    Type.String({ pattern: '^[0-9]+$', description: '1 to 1000, default 100. Switches to the paged form.' }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: 500, description: 'Where the previous page ended. Switches to the paged form.' }),
  ),
};

export const ListRulesQuery = Type.Object(
  {
    ...listAssetsQuery,
    include: Type.Optional(
      Type.String({
        maxLength: 200,
        description: '`drift`: how the draft and the objects that its fields come from have come apart.',
      }),
    ),
  },
  { $id: 'ListRulesQuery', additionalProperties: false, description: 'Filters of the rule list.' },
);
export type ListRulesQuery = Static<typeof ListRulesQuery>;

const RulePage = Type.Object(
  {
    data: Type.Array(ListedRule, { description: 'The entries of this page.' }),
    next_cursor: described(nullableText, 'Give it as `cursor` to read the next page; null on the last page.'),
  },
  { $id: 'RulePage', description: 'One page of rules; `next_cursor` is null on the last.' },
);
type RulePage = Static<typeof RulePage>;

/** A bare array if neither `limit` nor `cursor` is given, otherwise a page. */
export const ListRulesAnswer = Type.Union([Type.Array(ListedRule), RulePage], {
  $id: 'ListRulesAnswer',
  description: 'All rules, or one page of them.',
});
export type ListRulesAnswer = Static<typeof ListRulesAnswer>;

export const ExportRuleQuery = Type.Object(
  { id: Type.String({ format: 'uuid', description: 'Id of the rule, a UUID.' }) },
  { $id: 'ExportRuleQuery', additionalProperties: false, description: 'Which rule to export.' },
);
export type ExportRuleQuery = Static<typeof ExportRuleQuery>;

export const ImportRuleRequest = Type.Object(
  {
    rule: RuleImport,
    expected_updated_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'The `updatedAt` that the caller has seen. The header `if-match` with the `etag` of an export does the same.',
      }),
    ),
  },
  { $id: 'ImportRuleRequest', additionalProperties: false, description: 'The rule to create or change.' },
);
export type ImportRuleRequest = Static<typeof ImportRuleRequest>;

export const DeleteRuleRequest = Type.Object(
  { id: Type.String({ format: 'uuid', description: 'Id of the rule, a UUID.' }) },
  { $id: 'DeleteRuleRequest', additionalProperties: false, description: 'Which rule to delete.' },
);
export type DeleteRuleRequest = Static<typeof DeleteRuleRequest>;

export const Message = Type.Object(
  { message: Type.String({ description: 'What was done, in a sentence.' }) },
  { $id: 'Message', description: 'What was done, in a sentence.' },
);
export type Message = Static<typeof Message>;
