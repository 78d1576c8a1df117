import { type FormulaProblem } from '@decision/expressions';

/** Why a definition is refused. Codes are stable. */
export const contextProblemCodes = {
  invalid_name: 'A name that no fact can have.',
  duplicate_name: 'Two facts, or two relationships, of one name.',
  identity_unknown: 'The identity fact is no base fact.',
  identity_unsuitable: 'The identity fact is of a type, or has a setting, that an identity cannot have.',
  default_mismatch: 'The default is not of the type of its fact.',
  collection_unsuitable: 'values_only without a collection, or for a type that has none.',
  expression_misplaced: 'An expression where none belongs, or none where one must be.',
  setting_misplaced: 'A setting of submitted facts on a derived one.',
  formula_invalid: 'The formula does not parse, or names what does not exist.',
  history_untracked: 'history and previous need the name of a tracked fact, written as a string.',
  cycle: 'Facts that depend on themselves.',
  context_unknown: 'The other context of a relationship does not exist.',
  foreign_key_unsuitable: 'The foreign key is no base fact of type string or number of the context that holds it.',
} as const;

export type ContextProblemCode = keyof typeof contextProblemCodes;

/** One fault of a definition. */
export interface ContextProblem {
  readonly code: ContextProblemCode;
  /** JSON pointer into the definition, such as `/schema/derived/0/expression`, or `/relationships/<name>`. */
  readonly path: string;
  /** One sentence for the author. */
  readonly message: string;
  /** The place within a formula. */
  readonly formula?: FormulaProblem;
}

export const MAX_CONTEXT_PROBLEMS = 100;
