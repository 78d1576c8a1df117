/** Fields of a record that hold text. Each is null where the record has none. */
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

/** What a comparison looks at: a field of the record, or what stands at a path in the request or response. */
export type SearchField =
  { readonly of: TextField | NumberField } | { readonly of: 'request' | 'response'; readonly path: readonly string[] };

/** Operators by their longest spelling first, as they are looked for. */
export const comparisonOperators = ['!=', '>=', '<=', '!:', '=', '>', '<', ':'] as const;
export type ComparisonOperator = (typeof comparisonOperators)[number];

/** The right side of a comparison, or a bare word. */
export interface Literal {
  /** As it was written, without quotes. */
  readonly text: string;
  /** The text of a number as JSON writes it, where it was written without quotes and is one; else undefined. */
  readonly number: string | undefined;
  /** True, false or null, where it was written without quotes; else undefined. */
  readonly constant: boolean | null | undefined;
}

export interface Comparison {
  readonly kind: 'comparison';
  readonly field: SearchField;
  readonly operator: ComparisonOperator;
  readonly value: Literal;
}

/** A search. Each part is asked of one decision: of a list, one item must fulfil all of them. */
export type Search =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Search[] }
  | Comparison
  /** The text stands in the name, the error code, or a value of the request or response. */
  | { readonly kind: 'word'; readonly value: Literal }
  /** An execution, trace or request of this id. */
  | { readonly kind: 'id'; readonly hex: string; readonly text: string };
