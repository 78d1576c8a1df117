import { type FieldType } from '@decision/contracts';
import { buildIndex } from '../index/build-index';
import { IndexMatcher } from '../index/index-matcher';
import { CellKind, codeOf, kindOf, ScanMatcher } from '../match/clause-table';
import { type FieldReader, Frame } from '../match/frame';
import { type Comparison, type Condition, testOf } from '../operators/condition';
import { type Operator } from '../operators/operator-entry';
import { type PlannedCell, type PlannedRow } from '../read/planned-table';
import { type Schedule } from '../read/schedule';
import { BRIEF_ROWS, ConditionTexts } from './condition-texts';
import { type FormCell, FormFields } from './form-fields';
import { type BuiltClauses, cellsOfFirst, patternCostsOf, relevantCosts, type RuleSearch } from './rule-search';

export interface SearchPlan {
  /** In the order of trial. */
  readonly rows: readonly PlannedRow[];
  readonly readers: readonly FieldReader[];
  readonly types: readonly FieldType[];
  readonly search: 'index' | 'scan';
}

/** Lays the conditions of rows out for searches; `conditionOf` returns the current condition of a cell. */
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
    conditionTexts: new ConditionTexts(cellsOfFirst(BRIEF_ROWS, clauses)),
    leadingTexts: undefined,
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

/** Lays out rows in the order of trial; `cells` are the conditions of all of them, in that order. */
const buildClauses = (rows: readonly PlannedRow[], cells: readonly FormCell[], forms: FormFields): BuiltClauses => {
  const builder = new ClauseBuilder(cells, forms);
  rows.forEach((row, turn) => builder.addRow(row, turn));
  return builder.build();
};

const NO_ARGUMENTS: readonly unknown[] = [];

class ClauseBuilder {
  private readonly starts: number[] = [];
  private readonly turns: number[] = [];
  private readonly firstClauses: number[] = [];
  private readonly codes: number[] = [];
  private readonly bounds: number[] = [];
  private readonly operands: unknown[] = [];
  private readonly operators: (Operator | undefined)[] = [];
  private readonly args: (readonly unknown[])[] = [];
  /** Position of the next added cell. */
  private position = 0;

  constructor(
    private readonly cells: readonly FormCell[],
    private readonly forms: FormFields,
  ) {}

  addRow(row: PlannedRow, turn: number): void {
    this.firstClauses.push(this.starts.length);
    // A row without cells matches everything, joined with OR or not.
    const clauses = row.isOr && row.cells.length > 0 ? row.cells.map((cell) => [cell]) : [row.cells];
    for (const cells of clauses) {
      this.starts.push(this.codes.length);
      this.turns.push(turn);
      if (row.schedule !== undefined) this.addSchedule(row.schedule);
      for (const cell of cells) this.addCell(cell);
    }
  }

  build(): BuiltClauses {
    const { codes, bounds, operands, operators, args } = this;
    return {
      table: {
        count: this.starts.length,
        starts: Uint32Array.from([...this.starts, codes.length]),
        turns: Uint32Array.from(this.turns),
        codes: Uint32Array.from(codes),
        bounds: Float64Array.from(bounds),
        operands,
      },
      origins: { operators, args },
      firstClauses: Uint32Array.from([...this.firstClauses, this.starts.length]),
    };
  }

  private addSchedule(schedule: Schedule): void {
    this.push(0, CellKind.schedule, schedule);
    this.operators.push(undefined);
    this.args.push(NO_ARGUMENTS);
  }

  private addCell({ operator, args }: PlannedCell): void {
    const cell = this.cells[this.position];
    this.position += 1;
    if (cell === undefined) return;
    const { field, comparison } = this.forms.place(cell);
    this.addComparison(field, comparison);
    this.operators.push(operator);
    this.args.push(args);
  }

  private addComparison(field: number, comparison: Comparison): void {
    switch (comparison.kind) {
      case 'within':
        return this.push(field, CellKind.within, undefined, comparison.low, comparison.high);
      case 'outside':
        return this.push(field, CellKind.outside, undefined, comparison.low, comparison.high);
      case 'is':
        return this.push(field, CellKind.is, comparison.text);
      case 'is not':
        return this.push(field, CellKind.isNot, comparison.text);
      case 'among':
        return this.push(field, CellKind.among, comparison.values);
      case 'not among':
        return this.push(field, CellKind.notAmong, comparison.values);
      case 'absent':
        return this.push(field, CellKind.absent);
      default:
        return this.push(field, this.forms.isPoint[field] ? CellKind.pointTest : CellKind.test, testOf(comparison));
    }
  }

  private push(field: number, kind: number, operand?: unknown, low = 0, high = 0): void {
    this.codes.push(codeOf(field, kind));
    this.bounds.push(low, high);
    this.operands.push(operand);
  }
}
