import { type Static, Type } from '@sinclair/typebox';

const nullableText = Type.Union([Type.String(), Type.Null()]);

export const RuleVersion = Type.Object(
  {
    version: Type.Integer({ minimum: 1 }),
    version_id: Type.String({ format: 'uuid' }),
    published_at: Type.String({ format: 'date-time' }),
    published_by: nullableText,
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
  { data: Type.Array(RuleVersion), next_cursor: nullableText },
  { $id: 'RuleVersionPage', description: 'One page of versions, newest first.' },
);

const change = { from: Type.Optional(Type.Unknown()), to: Type.Optional(Type.Unknown()) };

/** A field of the input or output that differs; `from` is absent where it is new, `to` where it is gone. */
const FieldChange = Type.Object(
  {
    side: Type.Unsafe<'request' | 'response'>({ type: 'string', enum: ['request', 'response'] }),
    key: Type.String(),
    ...change,
  },
  { $id: 'FieldChange', description: 'A field that was added, removed or changed.' },
);

const row = Type.Integer({ minimum: 0, description: 'Index in `conditions`, from 0.' });

export const RuleDiff = Type.Object(
  {
    rule: Type.String(),
    from: Type.String({ description: '`draft` or the number of a version.' }),
    to: Type.String(),
    fields: Type.Array(FieldChange),
    rows: Type.Object({
      added: Type.Array(Type.Object({ row, content: Type.Unknown() })),
      removed: Type.Array(Type.Object({ row, content: Type.Unknown() })),
      changed: Type.Array(
        Type.Object({
          from_row: row,
          to_row: row,
          changes: Type.Array(
            Type.Object({
              path: Type.String({ description: '`request.weight`, `response.price`, `settings.priority`' }),
              ...change,
            }),
          ),
        }),
      ),
      moved: Type.Array(Type.Object({ from_row: row, to_row: row })),
      counts: Type.Object({
        added: Type.Integer(),
        removed: Type.Integer(),
        changed: Type.Integer(),
        moved: Type.Integer(),
      }),
    }),
    other: Type.Array(Type.Object({ field: Type.String(), ...change }), {
      description: 'Name, groups, settings and everything else that is neither field nor row.',
    }),
    equal: Type.Boolean(),
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
