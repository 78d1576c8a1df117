/** Fields of a record that hold text. Each is null if the record has none. */
export const textFields = [
  'name',
  'type',
  'selector',
  'error',
  'trace_id',
  'execution_id',
  'request_id',
  'key_id',
  'context',
  'instance',
  'flow',
] as const;
type TextField = (typeof textFields)[number];

/** Fields of a record that hold a number: the HTTP status, and the duration of the evaluation in ms. */
export const numberFields = ['status', 'duration'] as const;
type NumberField = (typeof numberFields)[number];

/** The operand of a comparison: a field of the record, or the value at a path in the request or response. */
export type SearchField =
  { readonly of: TextField | NumberField } | { readonly of: 'request' | 'response'; readonly path: readonly string[] };

/** Operators, longest spelling first, in the order in which they are matched. */
export const comparisonOperators = ['!=', '>=', '<=', '!:', '=', '>', '<', ':'] as const;
export type ComparisonOperator = (typeof comparisonOperators)[number];

/** The right side of a comparison, or a bare word. */
export interface Literal {
  /** As it was written, without quotes. */
  readonly text: string;
  /** The JSON text of a number written without quotes; otherwise undefined. */
  readonly number: string | undefined;
  /** True, false or null written without quotes; otherwise undefined. */
  readonly constant: boolean | null | undefined;
}

export interface Comparison {
  readonly kind: 'comparison';
  readonly field: SearchField;
  readonly operator: ComparisonOperator;
  readonly value: Literal;
}

/** A search. All its parts apply to one decision; of a list, one item must match all of them. */
export type Search =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Search[] }
  | Comparison
  /** The name, the error code, or a value of the request or response contains the text. */
  | { readonly kind: 'word'; readonly value: Literal }
  /** An execution, trace or request with this id. */
  | { readonly kind: 'id'; readonly hex: string; readonly text: string };
