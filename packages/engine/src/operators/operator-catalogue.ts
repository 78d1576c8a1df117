import { type FieldType } from '@decision/contracts';
import { booleanOperators } from './boolean-operators';
import { dateOperators } from './date/date-operators';
import { listOperators } from './list/list-operators';
import { numberOperators } from './number-operators';
import { type Operator, type OperatorEntry, operatorsOf } from './operator-entry';
import { stringOperators } from './string/string-operators';

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

const operators: Readonly<Record<FieldType, readonly Operator[]>> = {
  number: [...forEveryType('number'), ...numberOperators],
  string: [...forEveryType('string'), ...stringOperators],
  boolean: [...forEveryType('boolean'), ...booleanOperators],
  date: [...forEveryType('date'), ...dateOperators],
  list: [...forEveryType('list'), ...listOperators],
  // An object is asked about by the keys of its members; as a whole it is there or not.
  object: forEveryType('object'),
  // Fields of formulas are outputs and have no conditions.
  function: [],
};

/**
 * The 190 operators of fields that hold one value or a list: what the compiler, the messages, editors and the documentation read. Fields of
 * type object have the two that every type has, which are not listed again.
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
