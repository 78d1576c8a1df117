import { type FieldType } from '@decision/contracts';
import { truth } from './argument';
import { clockOperators, dateComparisonOperators, periodOperators } from './calendar-operators';
import { within } from './condition';
import { dayAndMonthOperators, hourAndMinuteOperators } from './elapsed-operators';
import { membershipOperators, occurrenceOperators } from './element-operators';
import { contactOperators } from './contact-operators';
import { formatOperators } from './format-operators';
import { numberOperators } from './number-operators';
import { objectElementOperators } from './object-operators';
import { type Operator, type OperatorEntry, operatorsOf } from './operator-entry';
import { listOrderOperators, listSizeOperators } from './order-operators';
import { textLengthOperators, textOperators } from './text-operators';
import { versionOperators } from './version-operators';

/** Operators of every type. */
const forEveryType = (type: FieldType): readonly Operator[] => {
  const operator = operatorsOf<unknown>(type);
  return [
    operator({
      op: 'any',
      args: [],
      meaning: 'Matches everything, a missing value too.',
      example: [[], null, null],
      condition: () => ({ kind: 'any' }),
    }),
    operator({
      op: 'is null',
      args: [],
      meaning: 'Is null or missing.',
      example: [[], null, EXAMPLES[type]],
      condition: () => ({ kind: 'absent' }),
    }),
  ];
};

/** A value of each type that is not null. */
const EXAMPLES: Readonly<Record<FieldType, unknown>> = {
  string: '',
  number: 0,
  boolean: false,
  date: '2026-05-13',
  list: [],
  object: {},
  function: '',
};

const booleanOperator = operatorsOf<number>('boolean');

/** True is 1 and false is 0 on the line of an index. */
const only = (value: boolean) => within(Number(value), Number(value));

/** Operators of boolean fields, in addition to those of every type. */
const booleanOperators: readonly Operator[] = [
  booleanOperator({
    op: 'is true',
    args: [],
    meaning: 'Is true.',
    example: [[], true, false],
    condition: () => only(true),
  }),
  booleanOperator({
    op: 'is false',
    args: [],
    meaning: 'Is false.',
    example: [[], false, true],
    condition: () => only(false),
  }),
  booleanOperator({
    op: 'equals',
    args: [truth('value')],
    meaning: 'Is the same.',
    example: [[true], true, false],
    condition: only,
  }),
];

const operators: Readonly<Record<FieldType, readonly Operator[]>> = {
  number: [...forEveryType('number'), ...numberOperators],
  string: [
    ...forEveryType('string'),
    ...textOperators,
    ...textLengthOperators,
    ...contactOperators,
    ...formatOperators,
    ...versionOperators,
  ],
  boolean: [...forEveryType('boolean'), ...booleanOperators],
  date: [
    ...forEveryType('date'),
    ...clockOperators,
    ...dayAndMonthOperators,
    ...periodOperators,
    ...dateComparisonOperators,
    ...hourAndMinuteOperators,
  ],
  list: [
    ...forEveryType('list'),
    ...membershipOperators,
    ...listSizeOperators,
    ...occurrenceOperators,
    ...listOrderOperators,
    ...objectElementOperators,
  ],
  // Conditions on an object use the keys of its members; as a whole it is present or absent.
  object: forEveryType('object'),
  // Formula fields are outputs and have no conditions.
  function: [],
};

/**
 * The operators of fields that hold one value or a list, as used by the compiler, messages, editors and the documentation. Fields of type object
 * have the two operators of every type, which are not listed again.
 */
export const operatorCatalogue: readonly OperatorEntry[] = (['number', 'string', 'boolean', 'date', 'list'] as const)
  .flatMap((type) => operators[type])
  .map(({ entry }) => entry);

const byName = new Map<string, ReadonlyMap<string, Operator>>(
  Object.entries(operators).map(([type, list]) => [
    type,
    new Map(list.map((operator) => [operator.entry.op, operator])),
  ]),
);

/** The operator of a field type by its exact wire name. */
export const findOperator = (type: FieldType, op: string): Operator | undefined => byName.get(type)?.get(op);

/** The wire names of all operators of a field type. */
export const operatorNames = (type: FieldType): readonly string[] => operators[type].map(({ entry }) => entry.op);
