import { type FieldType, fieldTypes } from '@decision/contracts';
import { booleanOperators } from './boolean-operators';
import { numberOperators } from './number-operators';
import { type OperatorEntry } from './operator-entry';
import { stringOperators } from './string-operators';

/** The operator that matches everything, a missing value too. */
export const ANY = 'any';

/** What every type of input field has. */
const forEveryType = (type: FieldType): readonly OperatorEntry<unknown>[] => [
  {
    type,
    op: ANY,
    args: [],
    meaning: 'Matches everything, a missing value too.',
    example: { args: [], matches: null, misses: undefined },
    compile: () => () => true,
  },
  {
    type,
    op: 'is null',
    args: [],
    meaning: 'Is null or missing.',
    example: { args: [], matches: null, misses: undefined },
    acceptsAbsent: true,
    compile: () => () => false,
  },
];

const INPUT_TYPES = fieldTypes.filter((type) => type !== 'function');

/** Every operator of every field type, once: what the compiler, the messages and the documentation read. */
export const operatorCatalogue: readonly OperatorEntry[] = [
  ...INPUT_TYPES.flatMap(forEveryType),
  ...numberOperators,
  ...stringOperators,
  ...booleanOperators,
];

const byTypeAndName = new Map<FieldType, ReadonlyMap<string, OperatorEntry>>(
  INPUT_TYPES.map((type) => [
    type,
    new Map(operatorCatalogue.filter((entry) => entry.type === type).map((entry) => [entry.op, entry])),
  ]),
);

/** The operator of a field type by its exact wire name. */
export const findOperator = (type: FieldType, op: string): OperatorEntry | undefined =>
  byTypeAndName.get(type)?.get(op);

/** The wire names of all operators of a field type. */
export const operatorNames = (type: FieldType): readonly string[] => [...(byTypeAndName.get(type)?.keys() ?? [])];
