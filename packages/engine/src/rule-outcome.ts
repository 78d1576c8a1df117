/** How much detail an answer explains. */
export type ExplainMode = 'none' | 'brief' | 'all';

/** Reader of an explanation: the groups to which a reader is restricted, or `unrestricted` for one who sees everything in the workspace. */
export type Audience = 'unrestricted' | readonly string[];

export interface EvaluateOptions {
  /** Epoch ms: the one clock of the request. Schedules, dates and formulas read it. */
  readonly now: number;
  /** Default `none`. `brief` names the first 50 losing rows, `all` every one before the winner. */
  readonly explain?: ExplainMode;
  /** Reader of the explanation, which shows only the workspace values that the reader may see; without a reader, none. */
  readonly audience?: Audience | undefined;
}

/** Why a row lost: the first of its cells that did not match, or its settings. Shown to clients unchanged. */
export interface LosingRow {
  /** Index in the document's `conditions`, from 0. */
  readonly row: number;
  readonly column?: string;
  readonly op?: string;
  readonly args?: readonly unknown[];
  /** The value seen, shortened; absent if the input had none. */
  readonly value?: unknown;
  /** The actual type of the value, if the operator is for another type. */
  readonly came?: string;
  readonly because: 'cell' | 'wrong_type' | 'missing' | 'no_cell_of_or_row' | 'schedule';
}

/**
 * The value of `$explain`. Losing rows are computed on first access, from the input as it is then: do not change the input before. `text` and
 * `JSON.stringify` access them.
 */
export interface RuleExplanation {
  /** Indexes of the rows whose outputs form the answer. */
  readonly matched: readonly number[];
  /** The group of these rows, if they belong to one. */
  readonly group?: string;
  readonly lost: readonly LosingRow[];
  /** How many losing rows are not listed. */
  readonly not_listed: number;
  /** The explanation as JSON text: the result of `JSON.stringify`, in a fraction of the time. */
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

/** An answer may be shared by all requests that receive it: it is deeply frozen. */
export type RuleOutcome =
  | {
      readonly ok: true;
      readonly output: Readonly<Record<string, unknown>>;
      /** Indexes in `conditions` of the rows whose outputs form the answer; empty if only defaults answer. */
      readonly matched: readonly number[];
      readonly explanation?: RuleExplanation;
    }
  | { readonly ok: false; readonly error: RuleFailure };
