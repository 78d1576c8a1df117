import { type Static, Type } from '@sinclair/typebox';
import { compileValidator } from '../validator';

/** Types of a field of a rule. `function` is for the response side only: its cells hold formulas. */
export const fieldTypes = ['string', 'number', 'boolean', 'date', 'list', 'object', 'function'] as const;
export type FieldType = (typeof fieldTypes)[number];

const fieldType = Type.Unsafe<FieldType>({ type: 'string', enum: [...fieldTypes] });

/** One column of a decision table. `key` may be dotted: `location.city` reads and writes nested objects. */
export const RuleField = Type.Object(
  {
    key: Type.String({ minLength: 1, maxLength: 512 }),
    name: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    description: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    type: fieldType,
    defaultValue: Type.Optional(Type.Unknown()),
    defaultComputedValue: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    show: Type.Optional(Type.Boolean()),
    valuesOnly: Type.Optional(Type.Boolean()),
    valuesPrefix: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    transform: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    source: Type.Optional(
      Type.Unknown({
        description: 'A FieldSource where the field was taken over from an object; anything else is kept.',
      }),
    ),
  },
  { $id: 'RuleField', description: 'A field of the input or output of a rule.' },
);
export type RuleField = Static<typeof RuleField>;

/** One condition: an operator by its exact wire name and its arguments. A list argument nests: `args: [["US", "CA"]]`. */
export const ConditionCell = Type.Object(
  { op: Type.String({ minLength: 1 }), args: Type.Optional(Type.Array(Type.Unknown())) },
  { $id: 'ConditionCell', description: 'An operator and its arguments.' },
);
export type ConditionCell = Static<typeof ConditionCell>;

/** One output cell. For a field of type `function` the value is a formula. */
export const ResponseCell = Type.Object(
  { value: Type.Optional(Type.Unknown()) },
  { $id: 'ResponseCell', description: 'The value, or for function fields the formula, that a row answers.' },
);
export type ResponseCell = Static<typeof ResponseCell>;

/** A weekly window in UTC; days 0 (Sunday) to 6; a window whose end lies before its start crosses midnight. */
export const ScheduleWindow = Type.Object(
  {
    days: Type.Optional(Type.Array(Type.Integer({ minimum: 0, maximum: 6 }))),
    start: Type.Optional(Type.String({ pattern: '^([01]\\d|2[0-4]):[0-5]\\d$' })),
    end: Type.Optional(Type.String({ pattern: '^([01]\\d|2[0-4]):[0-5]\\d$' })),
  },
  { $id: 'ScheduleWindow', description: 'When a row is in force, UTC.' },
);
export type ScheduleWindow = Static<typeof ScheduleWindow>;

export const RowSettings = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean({ default: true })),
    groupId: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    priority: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
    schedule: Type.Optional(Type.Union([Type.Array(ScheduleWindow), Type.Null()])),
    or: Type.Optional(Type.Boolean({ default: false })),
  },
  { $id: 'RowSettings', description: 'Whether, when and in which order a row takes part.' },
);
export type RowSettings = Static<typeof RowSettings>;

/** A row: all its condition cells must match, or any of them where `settings.or` is true. */
export const RuleRow = Type.Object(
  {
    id: Type.Optional(Type.String({ maxLength: 200 })),
    request: Type.Optional(Type.Record(Type.String(), ConditionCell)),
    response: Type.Optional(Type.Record(Type.String(), ResponseCell)),
    settings: Type.Optional(RowSettings),
  },
  { $id: 'RuleRow', description: 'A row of a decision table.' },
);
export type RuleRow = Static<typeof RuleRow>;

export const hitPolicies = ['fill', 'add', 'compute'] as const;
export type HitPolicy = (typeof hitPolicies)[number];

/** How the matching rows of one group are combined. */
export const RuleGroup = Type.Object(
  {
    hitPolicy: Type.Unsafe<HitPolicy>({ type: 'string', enum: [...hitPolicies] }),
    accumulators: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  { $id: 'RuleGroup', description: 'A hit policy over the rows that carry the group id.' },
);
export type RuleGroup = Static<typeof RuleGroup>;

export const RuleSettings = Type.Object(
  {
    testing: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    strictInput: Type.Optional(Type.Boolean({ default: false })),
    /** Noted on import, so that renaming a function value breaks no formula. */
    functions: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'Ids of the function values that formulas call, by name.',
      }),
    ),
  },
  { $id: 'RuleSettings', description: 'Settings of a whole rule.' },
);
export type RuleSettings = Static<typeof RuleSettings>;

const jsonObject = Type.Record(Type.String(), Type.Unknown());

const executableFields = {
  requestSchema: Type.Array(RuleField, { maxItems: 1000 }),
  responseSchema: Type.Array(RuleField, { maxItems: 1000 }),
  conditions: Type.Array(RuleRow, { maxItems: 1_000_000 }),
  groups: Type.Optional(Type.Record(Type.String(), RuleGroup)),
  settings: Type.Optional(RuleSettings),
};

/** The part of a rule document that decides answers; what the engine compiles. */
export const RuleTable = Type.Object(executableFields, {
  $id: 'RuleTable',
  description: 'Fields, rows, groups and settings: everything that decides an answer.',
});
export type RuleTable = Static<typeof RuleTable>;

export const checkRuleTable = compileValidator(RuleTable);

const descriptiveFields = {
  name: Type.String({ minLength: 1, maxLength: 500 }),
  description: Type.Union([Type.String({ maxLength: 100_000 }), Type.Null()]),
  labels: Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100 }),
  folder: Type.Unknown(),
  testSuite: Type.Array(jsonObject),
  sampleRequest: Type.Unknown(),
  sampleResponse: Type.Unknown(),
  testRequest: Type.Unknown(),
  metadata: jsonObject,
  context: Type.Unknown(),
};

/** A rule as it is exported: camel case, so that an export can be imported again unchanged. */
export const RuleDocument = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    slug: Type.String(),
    ...descriptiveFields,
    ...executableFields,
    groups: Type.Record(Type.String(), RuleGroup),
    settings: RuleSettings,
    published: Type.Boolean(),
    publishedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    version: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], { description: 'The latest published version.' }),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({ format: 'date-time' }),
    updatedBy: Type.Union([Type.String(), Type.Null()]),
    ignored: Type.Optional(
      Type.Array(Type.Object({ field: Type.String(), reason: Type.String() }), {
        description: 'After an import that had fields of which nothing is known: these, which were not stored.',
      }),
    ),
  },
  { $id: 'RuleDocument', description: 'A rule: its draft, and whether and when it was published.' },
);
export type RuleDocument = Static<typeof RuleDocument>;

/**
 * A rule as it is imported. With a known `id` only the given fields change; with an unknown `id` the rule is created under it;
 * without one, id and slug are made. Fields that only exports have are accepted and change nothing; fields of which nothing is known are
 * ignored and told, and those that look like a known one are refused.
 */
export const RuleImport = Type.Object(
  {
    id: Type.Optional(Type.String({ format: 'uuid' })),
    slug: Type.Optional(Type.String({ pattern: '^[a-z0-9]+(?:[-_][a-z0-9]+)*$', maxLength: 200 })),
    ...Type.Partial(Type.Object({ ...descriptiveFields, ...executableFields })).properties,
    user_groups: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
        maxItems: 100,
        description:
          'Who sees the rule. A key that is restricted to groups gives and takes its own alone. Default of a new rule: the groups of the key.',
      }),
    ),
    _publish: Type.Optional(Type.Boolean({ description: 'Publish the draft as a new version.' })),
    _unpublish: Type.Optional(Type.Boolean({ description: 'Take every published version out of service.' })),
  },
  { $id: 'RuleImport', description: 'A new rule, or the fields of a rule that change.' },
);
export type RuleImport = Static<typeof RuleImport>;
