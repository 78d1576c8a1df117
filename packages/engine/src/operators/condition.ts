import { type Members } from '../values/point-set';
import { compareVersions, type Version } from './version';

/**
 * Whether a value matches. It is only called for values of the field's type: texts for strings, epoch ms for dates. `now` is the one clock of
 * the request, epoch ms.
 */
export type ValueTest<V> = (value: V, now: number) => boolean;

/**
 * Form of a value that a condition reads. Each form of an input is computed at most once per evaluation, for any number of rows.
 * - `value`: the value itself.
 * - `folded`: a text without its case.
 * - `length`: the characters of a text, the elements of a list; a point on a line.
 * - `version`: the parsed version of a text. A text that is not a version matches no condition on this form, not even a negated one.
 */
export type Form = 'value' | 'folded' | 'length' | 'version';

/** A bound of versions. */
export interface VersionBound {
  readonly version: Version;
  readonly isIncluded: boolean;
}

/**
 * How a form is compared, as data that an index can sort. Numbers, dates (epoch ms), lengths and booleans (0 and 1) are points on a line; bounds
 * are inclusive. Only `any` and `absent` match null and missing values; only `any` matches a value of another type.
 */
export type Comparison<V = unknown> =
  | { readonly kind: 'any' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'within'; readonly low: number; readonly high: number }
  | { readonly kind: 'outside'; readonly low: number; readonly high: number }
  | { readonly kind: 'is'; readonly text: string }
  | { readonly kind: 'is not'; readonly text: string }
  | { readonly kind: 'among'; readonly values: Members }
  | { readonly kind: 'not among'; readonly values: Members }
  /** For the forms `value` and `folded`. */
  | { readonly kind: 'starts with'; readonly text: string }
  | { readonly kind: 'ends with'; readonly text: string }
  /** For the form `version`. */
  | { readonly kind: 'versions'; readonly from?: VersionBound; readonly to?: VersionBound }
  | {
      readonly kind: 'test';
      readonly test: ValueTest<V>;
      /** Steps that one character of the text may cost; only for regular expressions. */
      readonly costPerCharacter?: number;
    };

/** Condition of one cell: a form of the value, `value` by default, and its comparison. */
export type Condition<V = unknown> = Comparison<V> & { readonly form?: Form };

export const within = (low: number, high: number): Condition => ({ kind: 'within', low, high });
export const outside = (low: number, high: number): Condition => ({ kind: 'outside', low, high });
export const test = <V>(valueTest: ValueTest<V>): Condition<V> => ({ kind: 'test', test: valueTest });

/** The same comparison on another form of the value. */
export const ofForm = (form: Form, condition: Condition): Condition => ({ ...condition, form });

/** A test on another form of the value; `F` is the type of the form. */
export const testOfForm = <F>(form: Form, formTest: ValueTest<F>): Condition => ({
  form,
  kind: 'test',
  test: formTest as ValueTest<unknown>, // it is called for that form alone
});

/** The opposite among values of the field's type. */
export const negate = <V>(condition: Condition<V>): Condition<V> => {
  switch (condition.kind) {
    case 'within':
      return { ...condition, kind: 'outside' };
    case 'outside':
      return { ...condition, kind: 'within' };
    case 'is':
      return { ...condition, kind: 'is not' };
    case 'is not':
      return { ...condition, kind: 'is' };
    case 'among':
      return { ...condition, kind: 'not among' };
    case 'not among':
      return { ...condition, kind: 'among' };
    case 'test': {
      const { test: positive } = condition;
      return { ...condition, test: (value, now) => !positive(value, now) };
    }
    case 'starts with':
    case 'ends with':
    case 'versions': {
      const positive = testOf(condition);
      return { form: condition.form ?? 'value', kind: 'test', test: (value, now) => !positive(value, now) };
    }
    case 'any':
    case 'absent':
      return condition;
  }
};

/** A condition as one test of its form: the reference for every faster evaluation. */
export const testOf = (condition: Condition<never>): ValueTest<unknown> => {
  switch (condition.kind) {
    case 'within':
      return (value) => Number(value) >= condition.low && Number(value) <= condition.high;
    case 'outside':
      return (value) => Number(value) < condition.low || Number(value) > condition.high;
    case 'is':
      return (value) => value === condition.text;
    case 'is not':
      return (value) => value !== condition.text;
    case 'among':
      return (value) => condition.values.has(value);
    case 'not among':
      return (value) => !condition.values.has(value);
    case 'starts with':
      return (value) => (value as string).startsWith(condition.text); // both forms are texts
    case 'ends with':
      return (value) => (value as string).endsWith(condition.text); // both forms are texts
    case 'versions':
      return (value) => liesBetween(value as Version, condition); // the type of the form
    case 'test':
      return condition.test as ValueTest<unknown>; // it is called for values of its form alone
    case 'any':
      return () => true;
    case 'absent':
      return () => false;
  }
};

const liesBetween = (
  version: Version,
  { from, to }: { readonly from?: VersionBound; readonly to?: VersionBound },
): boolean => {
  const above = from === undefined ? 1 : compareVersions(version, from.version);
  const below = to === undefined ? -1 : compareVersions(version, to.version);
  return (above > 0 || (above === 0 && from?.isIncluded === true)) && (below < 0 || (below === 0 && to?.isIncluded === true)); // prettier-ignore
};
