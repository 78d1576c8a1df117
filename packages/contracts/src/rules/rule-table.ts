import { type Static, Type } from '@sinclair/typebox';
import { compileValidator } from '../validator';
import { described, shownAs } from '../described';
import { FieldSource } from './field-source';
import { LoggingSettings } from './logging-settings';
import { RuleValue } from './shown-parts';

/** Types of a field of a rule. `function` is for the response side only: its cells hold formulas. */
export const fieldTypes = ['string', 'number', 'boolean', 'date', 'list', 'object', 'function'] as const;
export type FieldType = (typeof fieldTypes)[number];

const fieldType = Type.Unsafe<FieldType>({ type: 'string', enum: [...fieldTypes] });

/** One column of a decision table. `key` may be dotted: `location.city` reads and writes nested objects. */
export const RuleField = Type.Object(
  {
    key: Type.String({
      minLength: 1,
      maxLength: 512,
      description: 'Name of the field, 1 to 512 characters; dots join the names of nested objects: `location.city`.',
    }),
    name: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: 'Name for people; null for none.' })),
    description: Type.Optional(
      Type.Union([Type.String(), Type.Null()], { description: 'Text for people; null if there is none.' }),
    ),
    type: described(fieldType, 'Type of the field. `function` is for outputs alone: their cells hold formulas.'),
    defaultValue: Type.Optional(
      shownAs(
        Type.Unknown({
          description: 'Stands where the input is missing, or where no row gives the output. Default: null.',
        }),
        RuleValue,
      ),
    ),
    defaultComputedValue: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'Formula whose result is used instead; null for none.',
      }),
    ),
    show: Type.Optional(Type.Boolean({ description: 'Whether editors show the field; no answer depends on it.' })),
    valuesOnly: Type.Optional(
      Type.Boolean({ description: 'Whether editors offer values of the workspace alone; no answer depends on it.' }),
    ),
    valuesPrefix: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'Beginning of the names of values that editors offer; no answer depends on it.',
      }),
    ),
    transform: Type.Optional(
      Type.Union([Type.String(), Type.Null()], { description: 'Kept for editors; no answer depends on it.' }),
    ),
    source: Type.Optional(
      shownAs(
        Type.Unknown({
          description: 'A FieldSource where the field was taken over from an object; anything else is kept.',
        }),
        Type.Union([FieldSource, Type.Unknown({ description: 'Anything else, which is kept.' })]),
      ),
    ),
  },
  { $id: 'RuleField', description: 'A field of the input or output of a rule.' },
);
export type RuleField = Static<typeof RuleField>;

/** One condition: an operator by its exact wire name and its arguments. A list argument nests: `args: [["US", "CA"]]`. */
export const ConditionCell = Type.Object(
  {
    op: Type.String({
      minLength: 1,
      description: 'Name of the operator, exactly as `GET /api/v1/admin/operators` lists it.',
    }),
    args: Type.Optional(
      Type.Array(shownAs(Type.Unknown(), RuleValue), { description: 'Arguments in their order. Default: none.' }),
    ),
  },
  { $id: 'ConditionCell', description: 'An operator and its arguments.' },
);
export type ConditionCell = Static<typeof ConditionCell>;

/** One output cell. For a field of type `function` the value is a formula. */
export const ResponseCell = Type.Object(
  {
    value: Type.Optional(
      shownAs(
        Type.Unknown({
          description:
            'The value; for a field of type `function` a formula. Absent: the row gives nothing for this output.',
        }),
        RuleValue,
      ),
    ),
  },
  { $id: 'ResponseCell', description: 'The value, or for function fields the formula, that a row answers.' },
);
export type ResponseCell = Static<typeof ResponseCell>;

/** A weekly window in UTC; days 0 (Sunday) to 6; a window that ends before its start crosses midnight. */
export const ScheduleWindow = Type.Object(
  {
    days: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0, maximum: 6 }), {
        description: 'Days of the week, 0 (Sunday) to 6. Default: every day.',
      }),
    ),
    start: Type.Optional(
      Type.String({
        pattern: '^([01]\\d|2[0-4]):[0-5]\\d$',
        description: 'Beginning of the window, `HH:MM`, UTC. Default 00:00.',
      }),
    ),
    end: Type.Optional(
      Type.String({
        pattern: '^([01]\\d|2[0-4]):[0-5]\\d$',
        description: 'End of the window, `HH:MM`, UTC; before `start`: on the day after. Default 24:00.',
      }),
    ),
  },
  { $id: 'ScheduleWindow', description: 'When a row is in force, UTC.' },
);
export type ScheduleWindow = Static<typeof ScheduleWindow>;

export const RowSettings = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean({ default: true, description: 'Whether the row is evaluated. Default true.' })),
    groupId: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'Name of the group that the row belongs to; null, the default, or empty: none.',
      }),
    ),
    priority: Type.Optional(
      Type.Union([Type.Number(), Type.Null()], {
        description:
          'Rows are tried from the highest to the lowest, within one priority in their order. Default 0; null means 0.',
      }),
    ),
    schedule: Type.Optional(
      Type.Union([Type.Array(ScheduleWindow), Type.Null()], {
        description: 'Periods in which the row is evaluated; none, or null: always.',
      }),
    ),
    or: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether one condition that holds is enough. Default false: all must hold.',
      }),
    ),
  },
  { $id: 'RowSettings', description: 'Whether, when and in which order a row is evaluated.' },
);
export type RowSettings = Static<typeof RowSettings>;

/** A row: all its condition cells must match, or any of them if `settings.or` is true. */
export const RuleRow = Type.Object(
  {
    id: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'Id of the row, at most 200 characters, unique in its rule. Default: one is made.',
      }),
    ),
    request: Type.Optional(
      Type.Record(Type.String(), ConditionCell, { description: 'Conditions by the key of the input.' }),
    ),
    response: Type.Optional(Type.Record(Type.String(), ResponseCell, { description: 'Outputs by their keys.' })),
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
    hitPolicy: Type.Unsafe<HitPolicy>({
      type: 'string',
      enum: [...hitPolicies],
      description:
        'How matching rows are combined: `fill` takes the first that gives an output, `add` adds numbers up, `compute` uses the accumulators.',
    }),
    accumulators: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description:
          'With `compute`: by the key of the output a named accumulator, or a formula over `$values` and `$rows`.',
      }),
    ),
  },
  { $id: 'RuleGroup', description: 'A hit policy over the rows that carry the group id.' },
);
export type RuleGroup = Static<typeof RuleGroup>;

export const RuleSettings = Type.Object(
  {
    testing: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description:
          '`continuous`: publishing is refused while a critical test fails. Anything else, or null: it is not.',
      }),
    ),
    strictInput: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether an input of another type than its field is refused. Default false: it satisfies no condition.',
      }),
    ),
    logging: Type.Optional(LoggingSettings),
    /** Recorded on import, so that renaming a function value breaks no formula. */
    functions: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'Ids of the function values that formulas call, by name.',
      }),
    ),
  },
  { $id: 'RuleSettings', description: 'Settings of a whole rule.' },
);
export type RuleSettings = Static<typeof RuleSettings>;

/** The parts of a rule that determine its answers, as in its documents. */
export const tableFields = {
  requestSchema: Type.Array(RuleField, { maxItems: 1000, description: 'Inputs, at most 1,000.' }),
  responseSchema: Type.Array(RuleField, { maxItems: 1000, description: 'Outputs, at most 1,000.' }),
  conditions: Type.Array(RuleRow, { maxItems: 1_000_000, description: 'Rows, at most 1,000,000.' }),
  groups: Type.Record(Type.String(), RuleGroup, { description: 'Groups of rows, by the name that rows carry.' }),
  settings: RuleSettings,
};

/** The part of a rule document that determines answers; the engine compiles it. */
export const RuleTable = Type.Object(
  { ...tableFields, groups: Type.Optional(tableFields.groups), settings: Type.Optional(tableFields.settings) },
  {
    $id: 'RuleTable',
    description: 'Fields, rows, groups and settings: everything that decides an answer.',
  },
);
export type RuleTable = Static<typeof RuleTable>;

export const checkRuleTable = compileValidator(RuleTable);
