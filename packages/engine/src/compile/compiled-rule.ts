import { type FieldType, type HitPolicy } from '@decision/contracts';
import { type CompiledFormula } from '@decision/expressions';
import { type FieldPath, type FieldReader } from '../fields/field-path';
import { type RuleOutcome } from '../rule-outcome';
import { type Bindings } from './bindings';
import { type RuleSearch } from './build-search';
import { type OutputCell } from './output-cell';

export interface CompiledInput {
  readonly reader: FieldReader;
  readonly type: FieldType;
  /** Replacement for a missing value. */
  readonly fallback: OutputCell;
}

export interface CompiledOutput {
  readonly path: FieldPath;
  readonly fallback: OutputCell;
  /** Value of the row at each place. */
  readonly cells: readonly OutputCell[];
}

/** Rows of one group stand at places next to each other. */
export interface CompiledGroup {
  readonly id: string;
  readonly policy: HitPolicy;
  /** By position of the output. */
  readonly accumulators: ReadonlyMap<number, CompiledFormula>;
  /** Places of its rows; the end is not included. */
  readonly start: number;
  readonly end: number;
}

/**
 * A decision table made ready, and safe to share: to its users it never changes. Made by `compileRule`; its members are for this package
 * alone.
 */
export interface CompiledRule {
  /** Rows that take part. */
  readonly rowCount: number;
  /** About how much memory it keeps alive, answers that it will keep included. */
  readonly bytes: number;
  /** @internal */
  readonly inputs: readonly CompiledInput[];
  /** Positions of inputs that have a default. @internal */
  readonly inputsWithFallback: readonly number[];
  /** @internal */
  readonly outputs: readonly CompiledOutput[];
  /** Parts of the keys of all outputs: the size of an answer without its values. @internal */
  readonly partsPerAnswer: number;
  /** Positions of outputs by key. @internal */
  readonly outputPositions: ReadonlyMap<string, number>;
  /** Index in `conditions` of the row at each place in the order of trial. @internal */
  readonly rowIndexes: Uint32Array;
  /** By place: 1 where the row is joined with OR. @internal */
  readonly orRows: Uint8Array;
  /** By place: the group of the row. Empty where the rule has no groups. @internal */
  readonly groupsByPlace: readonly (CompiledGroup | undefined)[];
  /** @internal */
  readonly strictInput: boolean;
  /** @internal */
  readonly bindings: Bindings;
  /** Search by the current values; replaced as a whole when one changes. @internal */
  search: RuleSearch;
  /** Answers that need nothing of the input, by place, made when they are first given; that of no row stands at the end. @internal */
  readonly answers: (RuleOutcome | undefined)[];
}
