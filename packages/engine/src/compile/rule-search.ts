import { type ClauseTable, type Matcher } from '../match/clause-table';
import { type Frame } from '../match/frame';
import { type Operator } from '../operators/operator-entry';
import { type Condition } from '../operators/condition';
import { type ConditionTexts } from './condition-texts';
import { type LeadingTexts } from './leading-texts';

/** Cost of reading the value of one input for all conditions that read it one by one. */
export interface ReadingCost {
  /** Nanoseconds for one character, element or member, at worst. */
  readonly perUnit: number;
  /** Conditions and forms that read it. */
  readonly readers: number;
}

/**
 * Maximum nanoseconds for the conditions of one evaluation to read its input: two seconds at worst, as the sum over all fields. Regular
 * expressions that use up their own bound take the same time.
 */
export const MAX_READING_TIME = 2_000_000_000;
/** Characters, elements and members of the largest input of a request. */
const LARGEST_INPUT = 33_554_432;

/** By position of the input. Conditions found by hashing or sorting cost nothing. */
export type ReadingCosts = ReadonlyMap<number, ReadingCost>;

/** The costs that need a check; none if the largest input stays below the bound, whichever field it fills. */
export const relevantCosts = (costs: ReadingCosts): ReadingCosts => {
  const most = Math.max(0, ...[...costs.values()].map(({ perUnit }) => perUnit));
  return most * LARGEST_INPUT <= MAX_READING_TIME ? new Map<number, ReadingCost>() : costs;
};

/**
 * Maximum steps of one regular expression on one text: the characters of the text times the instructions of the expression. A step usually takes
 * a nanosecond and at worst 50: a second at most. A text of a megabyte allows 20 instructions.
 */
export const MAX_PATTERN_STEPS = 20_000_000;
/** The same for all regular expressions of a rule together; each counts once per row that contains it. */
export const MAX_RULE_PATTERN_STEPS = 100_000_000;

interface PatternCost {
  /** Cost of one character in the most expensive regular expression. */
  readonly most: number;
  /** Cost of one character in all of them. */
  readonly total: number;
}

/** By position of the input. */
type PatternCosts = ReadonlyMap<number, PatternCost>;

export const patternCostsOf = (
  cells: readonly { readonly field: number; readonly condition: Condition }[],
): PatternCosts => {
  const costs = new Map<number, PatternCost>();
  for (const { field, condition } of cells) {
    if (condition.kind !== 'test' || condition.costPerCharacter === undefined) continue;
    const { most, total } = costs.get(field) ?? { most: 0, total: 0 };
    const cost = condition.costPerCharacter;
    costs.set(field, { most: Math.max(most, cost), total: total + cost });
  }
  return costs;
};

/** Origin of the cells of a clause table, for explanations. */
interface CellOrigins {
  /** By cell; undefined for cells of schedules. */
  readonly operators: readonly (Operator | undefined)[];
  /** By cell, as written. */
  readonly args: readonly (readonly unknown[])[];
}

export interface BuiltClauses {
  readonly table: ClauseTable;
  readonly origins: CellOrigins;
  /** First clause of the row at each turn, followed by the number of clauses. */
  readonly firstClauses: Uint32Array;
}

/** Number of cells of the rows at the first turns: they precede all others. */
export const cellsOfFirst = (rows: number, { table, firstClauses }: BuiltClauses): number =>
  table.starts[firstClauses[Math.min(rows, firstClauses.length - 1)] ?? 0] ?? 0;

interface FrameField {
  /** The input itself, or the input from which it is derived. */
  readonly input: number;
  /** Whether its values are points. */
  readonly isPoint: boolean;
}

/** The search for the rows of a rule, for the values of the workspace at one revision. */
export interface RuleSearch {
  readonly clauses: BuiltClauses;
  /** Fields of the frame, by position. */
  readonly fields: readonly FrameField[];
  /** Holds one input during a search. */
  readonly frame: Frame;
  readonly matcher: Matcher;
  readonly patternCosts: PatternCosts;
  readonly readingCosts: ReadingCosts;
  /** The same, even if no input could reach the bound. */
  readonly allCosts: ReadingCosts;
  /** Cells that are tests, which an index cannot decide. */
  readonly testCount: number;
  /** How explanations write the conditions of the first rows. */
  readonly conditionTexts: ConditionTexts;
  /** Created with the first explanation. */
  leadingTexts: LeadingTexts | undefined;
  /** Bytes of the bounds of ranked conditions. */
  readonly rankingBytes: number;
}
