/** How much an answer says about itself. */
export type ExplainMode = 'none' | 'brief' | 'all';

export interface EvaluateOptions {
  /** Epoch ms: the one clock of the request. Schedules read it. */
  readonly now: number;
  /** Default `none`. `brief` names the first 50 losing rows, `all` every one before the winner. */
  readonly explain?: ExplainMode;
}

/** Why a row lost: the first of its cells that did not match, or its settings. Shown to clients as it is. */
export interface LosingRow {
  readonly row: number;
  readonly column?: string;
  readonly op?: string;
  readonly args?: readonly unknown[];
  /** The value seen, shortened; absent where the input had none. */
  readonly value?: unknown;
  /** The type that came, where the operator is for another one. */
  readonly came?: string;
  readonly because: 'cell' | 'wrong_type' | 'missing' | 'no_cell_of_or_row' | 'schedule';
}

/** What stands under `$explain`. */
export interface RuleExplanation {
  /** Indexes of the rows whose outputs make the answer. */
  readonly matched: readonly number[];
  readonly lost: readonly LosingRow[];
  /** How many losing rows are not listed. */
  readonly not_listed: number;
}

/** The input was refused; nothing is wrong with the rule. */
export interface RuleFailure {
  readonly code: 'evaluation_failed';
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export type RuleOutcome =
  | {
      readonly ok: true;
      readonly output: Record<string, unknown>;
      readonly matched: readonly number[];
      readonly explanation?: RuleExplanation;
    }
  | { readonly ok: false; readonly error: RuleFailure };
