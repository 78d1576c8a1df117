import { type Static, Type } from '@sinclair/typebox';
import { described } from '../../described';

const nullableText = Type.Union([Type.String(), Type.Null()]);

export const RuleVersion = Type.Object(
  {
    version: Type.Integer({ minimum: 1, description: 'Number of the version, from 1.' }),
    version_id: Type.String({ format: 'uuid', description: 'Id of the version, a UUID.' }),
    published_at: Type.String({ format: 'date-time', description: 'When it was published, ISO 8601 in UTC.' }),
    published_by: described(nullableText, 'The API key that published it; null if it is not known.'),
    in_service: Type.Boolean({ description: 'Whether `latest` solves it.' }),
  },
  { $id: 'RuleVersion', description: 'A published version.' },
);
export type RuleVersion = Static<typeof RuleVersion>;

export const ListRuleVersionsQuery = Type.Object(
  {
    limit: Type.Optional(Type.String({ pattern: '^[0-9]+$', description: '1 to 1000, default 100.' })),
    cursor: Type.Optional(
      Type.String({ pattern: '^[1-9][0-9]{0,8}$', description: 'The next_cursor of an earlier page.' }),
    ),
  },
  { $id: 'ListRuleVersionsQuery', additionalProperties: false, description: 'Which page of versions.' },
);

export const RuleVersionPage = Type.Object(
  {
    data: Type.Array(RuleVersion, { description: 'The entries of this page.' }),
    next_cursor: described(nullableText, 'Give it as `cursor` to read the next page; null on the last page.'),
  },
  { $id: 'RuleVersionPage', description: 'One page of versions, newest first.' },
);

/** The previous and the current value. */
export const change = {
  from: Type.Optional(Type.Unknown({ description: 'What it was; absent if it is new.' })),
  to: Type.Optional(Type.Unknown({ description: 'The value after the change; absent if it was removed.' })),
};

/** A field of the input or output that differs; `from` is absent if it is new, `to` if it was removed. */
const FieldChange = Type.Object(
  {
    side: Type.Unsafe<'request' | 'response'>({
      type: 'string',
      enum: ['request', 'response'],
      description: 'Whether it is an input (`request`) or an output (`response`).',
    }),
    key: Type.String({ description: 'Key of the field.' }),
    ...change,
  },
  { $id: 'FieldChange', description: 'A field that was added, removed or changed.' },
);

const row = Type.Integer({ minimum: 0, description: 'Index in `conditions`, from 0.' });

export const RuleDiff = Type.Object(
  {
    rule: Type.String({ description: 'Slug of the rule.' }),
    from: Type.String({ description: '`draft` or the number of a version.' }),
    to: Type.String({ description: '`draft` or the number of a version.' }),
    fields: Type.Array(FieldChange, { description: 'Fields that differ.' }),
    rows: Type.Object(
      {
        added: Type.Array(Type.Object({ row, content: Type.Unknown({ description: 'The row.' }) }), {
          description: 'Rows that are new.',
        }),
        removed: Type.Array(Type.Object({ row, content: Type.Unknown({ description: 'The row.' }) }), {
          description: 'Removed rows.',
        }),
        changed: Type.Array(
          Type.Object({
            from_row: row,
            to_row: row,
            changes: Type.Array(
              Type.Object({
                path: Type.String({ description: '`request.weight`, `response.price`, `settings.priority`' }),
                ...change,
              }),
              { description: 'What differs in the row.' },
            ),
          }),
          { description: 'Rows whose content differs.' },
        ),
        moved: Type.Array(Type.Object({ from_row: row, to_row: row }), {
          description: 'Rows that stand elsewhere among those that both have.',
        }),
        counts: Type.Object(
          {
            added: Type.Integer({ description: 'Rows that are new.' }),
            removed: Type.Integer({ description: 'Removed rows.' }),
            changed: Type.Integer({ description: 'Rows whose content differs.' }),
            moved: Type.Integer({ description: 'Rows that stand elsewhere.' }),
          },
          { description: 'How many rows differ, those that are not listed among them.' },
        ),
      },
      { description: 'Rows that differ, at most 1,000 in each list.' },
    ),
    other: Type.Array(
      Type.Object({ field: Type.String({ description: 'Name of the field of the rule document.' }), ...change }),
      {
        description: 'Name, groups, settings and everything else that is neither field nor row.',
      },
    ),
    equal: Type.Boolean({ description: 'Whether nothing differs.' }),
    truncated: Type.Boolean({ description: 'Whether a list was cut at 1,000 entries; the counts are whole.' }),
  },
  { $id: 'RuleDiff', description: 'What distinguishes two states of a rule.' },
);
export type RuleDiff = Static<typeof RuleDiff>;

export const DiffRuleQuery = Type.Object(
  {
    from: Type.Optional(Type.String({ maxLength: 100, description: 'Default `latest`.' })),
    to: Type.Optional(Type.String({ maxLength: 100, description: 'Default `draft`.' })),
  },
  {
    $id: 'DiffRuleQuery',
    additionalProperties: false,
    description: '`draft`, `latest`, a version number or an environment.',
  },
);
