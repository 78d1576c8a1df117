import { areEqualBy } from '@decision/values';
import { ELEMENTS_PER_STEP, type Run } from './run';
import { type Place } from '../syntax/nodes';

/** Deep equality, of strings by UTF-16 units; the run pays for what is looked at. */
export const areEqual = (left: unknown, right: unknown, run: Run, place: Place): boolean => {
  if (typeof left === 'string') return areEqualStrings(left, right, run, place);
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  return areEqualBy(left, right, {
    isEqualText: (text, other) => areEqualStrings(text, other, run, place),
    onParts: (parts, countedKeys) => run.charge(1 + parts + countedKeys / ELEMENTS_PER_STEP, place),
  });
};

const areEqualStrings = (left: string, right: unknown, run: Run, place: Place): boolean => {
  if (typeof right !== 'string' || left.length !== right.length) return false;
  run.chargeText(left, place);
  return left === right;
};

/** Whether a list holds a value; one look at each element. */
export const includesValue = (list: readonly unknown[], sought: unknown, run: Run, place: Place): boolean => {
  run.charge(1 + list.length / ELEMENTS_PER_STEP, place);
  if (typeof sought !== 'object' && typeof sought !== 'string') return list.includes(sought);
  return list.some((value) => areEqual(value, sought, run, place));
};
