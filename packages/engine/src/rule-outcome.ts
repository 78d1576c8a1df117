/** How much an answer says about itself. */
export type ExplainMode = 'none' | 'brief' | 'all';

/** Reader of an explanation: the groups to which a reader is restricted, or `unrestricted` for one who sees everything in the workspace. */
export type Audience = 'unrestricted' | readonly string[];

export interface EvaluateOptions {
  /** Epoch ms: the one clock of the request. Schedules, dates and formulas read it. */
  readonly now: number;
  /** Default `none`. `brief` names the first 50 losing rows, `all` every one before the winner. */
  readonly explain?: ExplainMode;
  /** Reader of the explanation. It shows only values of the workspace that the reader may see; without one, none. */
  readonly audience?: Audience | undefined;
}

/** Why a row lost: the first of its cells that did not match, or its settings. Shown to clients as it is. */
export interface LosingRow {
  /** Index in the document's `conditions`, from 0. */
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

/**
 * The value of `$explain`. Losing rows are worked out when they are first asked for, from the input as it then is: leave the input alone until then.
 * `text` and `JSON.stringify` ask for them.
 */
export interface RuleExplanation {
  /** Indexes of the rows whose outputs make the answer. */
  readonly matched: readonly number[];
  /** The group of these rows, where they belong to one. */
  readonly group?: string;
  readonly lost: readonly LosingRow[];
  /** How many losing rows are not listed. */
  readonly not_listed: number;
  /** The explanation as JSON text: what `JSON.stringify` makes of it, in a fraction of the time. */
  text(): string;
  toJSON(): unknown;
}

/** The input could not be answered. */
export interface RuleFailure {
  readonly code: 'evaluation_failed';
  readonly message: string;
  /** Index in `conditions` of the row that failed. */
  readonly row?: number;
  /** Key of the field that failed. */
  readonly column?: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** An answer may be shared by all requests that get it: it is frozen, values within it included. */
export type RuleOutcome =
  | {
      readonly ok: true;
      readonly output: Readonly<Record<string, unknown>>;
      /** Indexes in `conditions` of the rows whose outputs make the answer; none where only defaults answer. */
      readonly matched: readonly number[];
      readonly explanation?: RuleExplanation;
    }
  | { readonly ok: false; readonly error: RuleFailure };
