import { type Operator } from '../operators/operator-entry';
import { type Condition } from '../operators/condition';
import { CellKind, type ClauseTable, codeOf, testOf } from '../match/clause-table';
import { type PlannedCell, type PlannedRow } from '../read/planned-table';
import { type Schedule } from '../read/schedule';
import { type MovingCell } from './bindings';

/** Where the cells of a clause table come from; what explanations say about them. */
export interface CellOrigins {
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
  /** Cells whose arguments refer to values. */
  readonly moving: readonly MovingCell[];
}

/** Lays out the conditions of rows, in the order in which they are tried. `isPoint` says, by field, whether its values are points. */
export const buildClauses = (rows: readonly PlannedRow[], isPoint: readonly boolean[]): BuiltClauses => {
  const builder = new ClauseBuilder(isPoint);
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
  private readonly moving: MovingCell[] = [];

  constructor(private readonly isPoint: readonly boolean[]) {}

  addRow(row: PlannedRow, place: number): void {
    this.firstClauses.push(this.starts.length);
    // A row without cells matches everything, joined with OR or not.
    const clauses = row.isOr && row.cells.length > 0 ? row.cells.map((cell) => [cell]) : [row.cells];
    for (const cells of clauses) {
      this.starts.push(this.codes.length);
      this.places.push(place);
      if (row.schedule !== undefined) this.addSchedule(row.schedule);
      for (const cell of cells) this.addCell(cell, row.index);
    }
  }

  build(): BuiltClauses {
    const { codes, bounds, operands, operators, args, moving } = this;
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
      moving,
    };
  }

  private addSchedule(schedule: Schedule): void {
    this.push(0, CellKind.schedule, schedule);
    this.operators.push(undefined);
    this.args.push(NO_ARGUMENTS);
  }

  private addCell({ field, operator, args, condition, isMoving }: PlannedCell, row: number): void {
    if (isMoving) this.addMoving({ field, operator, args, condition, row });
    else this.addCondition(field, condition);
    this.operators.push(operator);
    this.args.push(args);
  }

  /** A cell that changes with values is a test that is exchanged; the index cannot know what it will be. */
  private addMoving({ field, operator, args, condition, row }: Omit<MovingCell, 'current'>): void {
    const cell: MovingCell = { field, operator, args, condition, row, current: testOf(condition) };
    this.moving.push(cell);
    this.push(field, this.isPoint[field] ? CellKind.pointTest : CellKind.test, (value: unknown, now: number) => cell.current(value, now)); // prettier-ignore
  }

  private addCondition(field: number, condition: Condition): void {
    switch (condition.kind) {
      case 'within':
        return this.push(field, CellKind.within, undefined, condition.low, condition.high);
      case 'outside':
        return this.push(field, CellKind.outside, undefined, condition.low, condition.high);
      case 'is':
        return this.push(field, CellKind.is, condition.text);
      case 'is not':
        return this.push(field, CellKind.isNot, condition.text);
      case 'among':
        return this.push(field, CellKind.among, condition.values);
      case 'not among':
        return this.push(field, CellKind.notAmong, condition.values);
      case 'absent':
        return this.push(field, CellKind.absent);
      case 'any':
      case 'test':
        return this.push(field, this.isPoint[field] ? CellKind.pointTest : CellKind.test, testOf(condition));
    }
  }

  private push(field: number, kind: number, operand?: unknown, low = 0, high = 0): void {
    this.codes.push(codeOf(field, kind));
    this.bounds.push(low, high);
    this.operands.push(operand);
  }
}
