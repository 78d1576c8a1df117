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
 * Nanoseconds that the conditions of one evaluation may take to read its input: two seconds, the sum over all fields, at worst. It is what
 * regular expressions that are used up to their own bound take.
 */
export const MAX_READING_TIME = 2_000_000_000;
/** Characters, elements and members of the largest input that a request can bring. */
const LARGEST_INPUT = 33_554_432;

/** By position of the input. What is found by hashing or sorting costs nothing. */
export type ReadingCosts = ReadonlyMap<number, ReadingCost>;

/** The costs that need a check; none where the largest input stays below the bound, whichever field it fills. */
export const relevantCosts = (costs: ReadingCosts): ReadingCosts => {
  const most = Math.max(0, ...[...costs.values()].map(({ perUnit }) => perUnit));
  return most * LARGEST_INPUT <= MAX_READING_TIME ? new Map<number, ReadingCost>() : costs;
};

/**
 * Steps that one regular expression may take on one text: the characters of the text times the instructions of the expression. A step is
 * usually a nanosecond and at worst 50: a second at most. A megabyte can be asked about 20 instructions.
 */
export const MAX_PATTERN_STEPS = 20_000_000;
/** The same for all regular expressions of a rule together, each as often as it stands in a row. */
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
  /** By cell; undefined for those of schedules. */
  readonly operators: readonly (Operator | undefined)[];
  /** By cell, as they are written. */
  readonly args: readonly (readonly unknown[])[];
}

export interface BuiltClauses {
  readonly table: ClauseTable;
  readonly origins: CellOrigins;
  /** First clause of the row at each place, and at last the number of clauses. */
  readonly firstClauses: Uint32Array;
}

/** Cells of the rows at the first places, as many as are given: they come before all others. */
export const cellsOfFirst = (rows: number, { table, firstClauses }: BuiltClauses): number =>
  table.starts[firstClauses[Math.min(rows, firstClauses.length - 1)] ?? 0] ?? 0;

interface FrameField {
  /** The input itself, or the input from which it is made. */
  readonly input: number;
  /** Whether its values are points. */
  readonly isPoint: boolean;
}

/** How the rows of a rule are found, for the values of the workspace as they were at one revision. */
export interface RuleSearch {
  readonly clauses: BuiltClauses;
  /** Fields of the frame, by position. */
  readonly fields: readonly FrameField[];
  /** Holds one input while rows are sought. */
  readonly frame: Frame;
  readonly matcher: Matcher;
  readonly patternCosts: PatternCosts;
  readonly readingCosts: ReadingCosts;
  /** The same, also where no input could reach the bound. */
  readonly allCosts: ReadingCosts;
  /** Cells that are tests, which an index cannot decide. */
  readonly testCount: number;
  /** How explanations write the conditions of the first rows. */
  readonly conditionTexts: ConditionTexts;
  /** Made when the first explanation is written. */
  leadingTexts: LeadingTexts | undefined;
  /** Bytes of the bounds among which conditions with an order are ranked. */
  readonly rankingBytes: number;
}
