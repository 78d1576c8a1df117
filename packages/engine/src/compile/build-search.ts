import { type FieldType } from '@decision/contracts';
import { type FieldReader } from '../fields/field-path';
import { buildIndex } from '../index/build-index';
import { IndexMatcher } from '../index/index-matcher';
import { CellKind, kindOf } from '../match/clause-table';
import { Frame } from '../match/frame';
import { type Matcher, ScanMatcher } from '../match/matcher';
import { type Condition } from '../operators/condition';
import { type PlannedCell, type PlannedRow } from '../read/planned-table';
import { buildClauses, type BuiltClauses } from './build-clauses';
import { FormFields } from './form-fields';
import { type PatternCosts, patternCostsOf } from './pattern-costs';
import { type ReadingCosts, relevantCosts } from './reading-costs';

interface FrameField {
  /** The input that it is, or of which it is made. */
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
  /** Bytes of the bounds among which conditions with an order are ranked. */
  readonly rankingBytes: number;
}

export interface SearchPlan {
  /** In the order in which they are tried. */
  readonly rows: readonly PlannedRow[];
  readonly readers: readonly FieldReader[];
  readonly types: readonly FieldType[];
  readonly search: 'index' | 'scan';
}

/** Lays the conditions of rows out for searches; `conditionOf` says what a cell asks for now. */
export const buildSearch = (
  { rows, readers, types, search }: SearchPlan,
  conditionOf: (cell: PlannedCell) => Condition,
): RuleSearch => {
  const cells = rows.flatMap((row) =>
    row.cells.map((cell) => ({
      field: cell.field,
      condition: conditionOf(cell),
      readingCost: cell.operator.readingCost,
    })),
  );
  const forms = new FormFields(types, cells, search === 'index');
  const clauses = buildClauses(rows, cells, forms);
  const frame = new Frame(readers, types, forms.derived);
  return {
    clauses,
    fields: forms.isPoint.map((isPoint, field) => ({ isPoint, input: forms.inputs[field] ?? field })),
    frame,
    matcher:
      search === 'scan'
        ? new ScanMatcher(clauses.table, frame)
        : new IndexMatcher(buildIndex(clauses.table, forms.isPoint), frame),
    patternCosts: patternCostsOf(cells),
    readingCosts: relevantCosts(forms.costs),
    allCosts: forms.costs,
    testCount: countTests(clauses),
    rankingBytes: forms.rankingBytes,
  };
};

const countTests = ({ table }: BuiltClauses): number => {
  let tests = 0;
  for (let cell = 0; cell < table.codes.length; cell += 1) {
    const kind = kindOf(table, cell);
    if (kind === CellKind.test || kind === CellKind.pointTest) tests += 1;
  }
  return tests;
};
