/**
 * Whether a value matches. It is only asked about values of the field's type: texts for strings, epoch ms for dates. `now` is the
 * one clock of the request, epoch ms.
 */
export type ValueTest<V> = (value: V, now: number) => boolean;

/**
 * What one cell asks of a value, in a form that an index can sort. Numbers, dates (epoch ms) and booleans (0 and 1) are points on a
 * line; bounds are included. Only `any` and `absent` match null and missing values; nothing but `any` matches a value of another type.
 */
export type Condition<V = unknown> =
  | { readonly kind: 'any' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'within'; readonly low: number; readonly high: number }
  | { readonly kind: 'outside'; readonly low: number; readonly high: number }
  | { readonly kind: 'is'; readonly text: string }
  | { readonly kind: 'is not'; readonly text: string }
  | { readonly kind: 'among'; readonly values: ReadonlySet<string | number> }
  | { readonly kind: 'not among'; readonly values: ReadonlySet<string | number> }
  | {
      readonly kind: 'test';
      readonly test: ValueTest<V>;
      /** Steps that one character of the text may cost; only of regular expressions. */
      readonly costPerCharacter?: number;
    };

export const within = (low: number, high: number): Condition => ({ kind: 'within', low, high });
export const outside = (low: number, high: number): Condition => ({ kind: 'outside', low, high });
export const test = <V>(valueTest: ValueTest<V>): Condition<V> => ({ kind: 'test', test: valueTest });

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
    case 'any':
    case 'absent':
      return condition;
  }
};
