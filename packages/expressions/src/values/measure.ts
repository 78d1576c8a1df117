import { isList, isPlainObject } from '@decision/values';

/**
 * How large a value is as JSON, roughly: one for each value in it and one for each UTF-16 unit of its strings and keys. Stops, and
 * answers more than the bound, as soon as the bound is passed: a small list of lists may stand for an enormous text.
 */
export const measureValue = (value: unknown, bound: number): number => {
  const pending: unknown[] = [value];
  let size = 0;
  while (pending.length > 0 && size <= bound) {
    const next = pending.pop();
    size += 1;
    if (typeof next === 'string') size += next.length;
    else if (isList(next)) {
      if (next.length > bound - size) return bound + 1;
      for (const item of next) pending.push(item);
    } else if (isPlainObject(next)) {
      for (const key of Object.keys(next)) {
        size += key.length;
        pending.push(next[key]);
      }
    }
  }
  return size;
};
