import { CellKind, type ClauseTable, fieldOf, kindOf } from '../match/clause-table';
import { type Frame } from '../match/frame';

/** Cells, and the first clause of the row at each turn, followed by the number of clauses. */
interface Rows {
  readonly table: ClauseTable;
  readonly firstClauses: Uint32Array;
}

/** Number of a row whose first condition does not compare with a text. */
const NO_TEXT = 0;
/** Number of a value that is none of the texts. */
const OTHER_TEXT = -1;

/**
 * The texts in the first conditions of the first rows, as numbers: most rows of a table whose first column tests equality lose by them, and a
 * value is looked up once instead of being compared with each.
 */
export class LeadingTexts {
  /** By text, from 1 on. */
  private readonly numbers = new Map<unknown, number>();
  /** By turn: the number of the text that the row requires. */
  private readonly wanted: Int32Array;
  /** The field that was read last, and the number of its value. */
  private field = -1;
  private seen = OTHER_TEXT;

  /** `count` is the number of first rows to inspect. */
  constructor(
    private readonly rows: Rows,
    count: number,
  ) {
    const { table, firstClauses } = rows;
    this.wanted = new Int32Array(Math.min(count, firstClauses.length - 1)).map((_, turn) => {
      const clause = firstClauses[turn] ?? 0;
      const cell = table.starts[clause] ?? 0;
      if (cell >= (table.starts[clause + 1] ?? 0) || kindOf(table, cell) !== CellKind.is) return NO_TEXT;
      return this.numberOf(table.operands[cell]);
    });
  }

  /** Forgets the value of the previous input. */
  reset(): void {
    this.field = -1;
  }

  /** The first cell of a row, if it is known to fail. The frame holds the input. */
  failedCell(turn: number, frame: Frame): number | undefined {
    const wanted = this.wanted[turn];
    if (wanted === undefined || wanted === NO_TEXT) return undefined;
    const { table, firstClauses } = this.rows;
    const cell = table.starts[firstClauses[turn] ?? 0] ?? 0;
    const field = fieldOf(table, cell);
    if (field !== this.field) {
      this.field = field;
      this.seen = this.numbers.get(frame.value(field)) ?? OTHER_TEXT;
    }
    return wanted === this.seen ? undefined : cell;
  }

  private numberOf(text: unknown): number {
    const number = this.numbers.get(text) ?? this.numbers.size + 1;
    this.numbers.set(text, number);
    return number;
  }
}
