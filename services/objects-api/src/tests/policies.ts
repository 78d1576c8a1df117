import { type TestPolicy } from '@decision/contracts';

/** Whether the output of a rule is as a test expects. Both are JSON; -0 equals 0. */
export const isAsExpected = (policy: TestPolicy, expected: unknown, output: unknown): boolean => {
  switch (policy) {
    case 'contains':
      return standsIn(expected, output);
    case 'matches':
      return covers(expected, output, true);
    case 'excludes':
      return !standsIn(expected, output);
  }
};

/** Whether a fragment is covered by the output itself or by anything within it. */
const standsIn = (fragment: unknown, output: unknown): boolean =>
  covers(fragment, output, false) ||
  (isComposite(output) && Object.values(output).some((part) => standsIn(fragment, part)));

/**
 * Whether a value has every part of a fragment: an object its fields, a list an entry for each of its entries, in whatever order. `whole`:
 * and nothing else, lists in their order. Each part of one is compared with each part of the other once at most.
 */
const covers = (fragment: unknown, value: unknown, whole: boolean): boolean => {
  if (!isComposite(fragment) || !isComposite(value)) return fragment === value;
  if (Array.isArray(fragment) || Array.isArray(value)) {
    return Array.isArray(fragment) && Array.isArray(value) && coversList(fragment, value, whole);
  }
  const keys = Object.keys(fragment);
  if (whole && keys.length !== Object.keys(value).length) return false;
  return keys.every((key) => Object.hasOwn(value, key) && covers(fieldOf(fragment, key), fieldOf(value, key), whole));
};

const coversList = (fragment: readonly unknown[], list: readonly unknown[], whole: boolean): boolean =>
  whole
    ? fragment.length === list.length && fragment.every((entry, index) => covers(entry, list[index], true))
    : fragment.every((entry) => list.some((candidate) => covers(entry, candidate, false)));

const isComposite = (value: unknown): value is object => typeof value === 'object' && value !== null;

const fieldOf = (value: object, key: string): unknown => (value as Readonly<Record<string, unknown>>)[key]; // any object, by its own key
