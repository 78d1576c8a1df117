import { answerFault } from './answer-bounds';
import { isObject } from '../values/value-type';

/**
 * Combined value of one output over the rows of a group that matched: at least one, none of them null. Numbers are added, texts and lists joined,
 * booleans combined by "or", members of objects merged, later ones first. Undefined if the values are not of one type, or too large together.
 */
export const addUp = (values: readonly unknown[]): unknown => {
  if (answerFault(values) !== undefined) return undefined;
  if (areAll(values, (value): value is number => typeof value === 'number')) {
    const sum = values.reduce((total, value) => total + value, 0);
    return Number.isFinite(sum) ? sum : undefined;
  }
  if (areAll(values, (value) => typeof value === 'string')) return values.join('');
  if (areAll(values, (value) => typeof value === 'boolean')) return values.includes(true);
  if (areAll(values, (value): value is unknown[] => Array.isArray(value))) return values.flat(1);
  if (areAll(values, isObject)) return Object.fromEntries(values.flatMap((value) => Object.entries(value)));
  return undefined;
};

const areAll = <T>(values: readonly unknown[], isOne: (value: unknown) => value is T): values is readonly T[] =>
  values.every(isOne);
