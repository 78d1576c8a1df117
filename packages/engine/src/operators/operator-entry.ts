import { type FieldType } from '@decision/contracts';

/** What an argument of an operator must be. */
export type ArgumentType = 'string' | 'number' | 'boolean' | 'list' | 'pattern';

export interface OperatorArgument {
  readonly name: string;
  readonly type: ArgumentType;
}

/** Whether a value of the operator's own type matches. */
export type ValueTest<V> = (value: V) => boolean;

/**
 * One operator of one field type: everything that the compiler, the messages and the documentation need. Its test sees only
 * values of the field's type; null, missing values and values of other types never match, except where `acceptsAbsent` is set.
 */
export interface OperatorEntry<V = never> {
  readonly type: FieldType;
  /** The exact wire name. */
  readonly op: string;
  readonly args: readonly OperatorArgument[];
  readonly meaning: string;
  /** Arguments and a value that matches, and one that does not. */
  readonly example: { readonly args: readonly unknown[]; readonly matches: unknown; readonly misses: unknown };
  /** Matches null and missing values, and no other. */
  readonly acceptsAbsent?: boolean;
  /** Whether the two arguments are a range whose start must not exceed its end. */
  readonly isRange?: boolean;
  /** Makes the test of one cell; the arguments have been checked. */
  readonly compile: (args: readonly never[]) => ValueTest<V>;
}
