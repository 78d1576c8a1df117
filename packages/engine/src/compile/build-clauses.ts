import { type Operator } from '../operators/operator-entry';
import { type Comparison, testOf } from '../operators/condition';
import { CellKind, type ClauseTable, codeOf } from '../match/clause-table';
import { type PlannedCell, type PlannedRow } from '../read/planned-table';
import { type Schedule } from '../read/schedule';
import { type FormCell, type FormFields } from './form-fields';

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

/** Lays out rows in the order in which they are tried; `cells` are the conditions of all of them, in that order. */
export const buildClauses = (
  rows: readonly PlannedRow[],
  cells: readonly FormCell[],
  forms: FormFields,
): BuiltClauses => {
  const builder = new ClauseBuilder(cells, forms);
  rows.forEach((row, place) => builder.addRow(row, place));
  return builder.build();
};

const NO_ARGUMENTS: readonly unknown[] = [];

class ClauseBuilder {
  private readonly starts: number[] = [];
  private readonly places: number[] = [];
  private readonly firstClauses: number[] = [];
  private readonly codes: number[] = [];
  private readonly bounds: number[] = [];
  private readonly operands: unknown[] = [];
  private readonly operators: (Operator | undefined)[] = [];
  private readonly args: (readonly unknown[])[] = [];
  /** Position of the next cell that is added. */
  private position = 0;

  constructor(
    private readonly cells: readonly FormCell[],
    private readonly forms: FormFields,
  ) {}

  addRow(row: PlannedRow, place: number): void {
    this.firstClauses.push(this.starts.length);
    // A row without cells matches everything, joined with OR or not.
    const clauses = row.isOr && row.cells.length > 0 ? row.cells.map((cell) => [cell]) : [row.cells];
    for (const cells of clauses) {
      this.starts.push(this.codes.length);
      this.places.push(place);
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
        places: Uint32Array.from(this.places),
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
