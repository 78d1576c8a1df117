import { ELEMENTS_PER_STEP, type Run } from '../run/run';
import { type Place } from '../syntax/nodes';
import { isList, isPlainObject } from './kind';

/**
 * Deep equality: same type and same content. Lists in order, objects by their own keys in any order, strings by UTF-16 units;
 * null equals null; -0 equals 0. Never recurses, so the depth of data does not matter.
 */
export const areEqual = (left: unknown, right: unknown, run: Run, place: Place): boolean => {
  if (typeof left === 'string') return areEqualStrings(left, right, run, place);
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  return areEqualDeep(left, right, run, place);
};

const areEqualStrings = (left: string, right: unknown, run: Run, place: Place): boolean => {
  if (typeof right !== 'string' || left.length !== right.length) return false;
  run.chargeText(left, place);
  return left === right;
};

const areEqualDeep = (left: object, right: object, run: Run, place: Place): boolean => {
  const pending: unknown[] = [left, right];
  while (pending.length > 0) {
    const b = pending.pop();
    const a = pending.pop();
    if (typeof a === 'string' ? !areEqualStrings(a, b, run, place) : a !== b && !pushParts(a, b, pending, run, place)) {
      return false;
    }
  }
  return true;
};

/** Compares the shape of two values and leaves their parts, in pairs, to be compared; false where the shape differs. */
const pushParts = (a: unknown, b: unknown, pending: unknown[], run: Run, place: Place): boolean => {
  if (isList(a)) {
    if (!isList(b) || a.length !== b.length) return false;
    run.charge(1 + a.length, place);
    for (let index = a.length - 1; index >= 0; index -= 1) pending.push(a[index], b[index]);
    return true;
  }
  if (!isPlainObject(a) || !isPlainObject(b)) return false;
  const keys = Object.keys(a);
  const count = Object.keys(b).length;
  run.charge(1 + keys.length + count / ELEMENTS_PER_STEP, place);
  if (count !== keys.length) return false;
  for (const key of keys) {
    if (!Object.hasOwn(b, key)) return false;
    pending.push(a[key], b[key]);
  }
  return true;
};

/** Whether a list holds a value; one look at each element. */
export const includesValue = (list: readonly unknown[], sought: unknown, run: Run, place: Place): boolean => {
  run.charge(1 + list.length / ELEMENTS_PER_STEP, place);
  if (typeof sought !== 'object' && typeof sought !== 'string') return list.includes(sought);
  return list.some((value) => areEqual(value, sought, run, place));
};
