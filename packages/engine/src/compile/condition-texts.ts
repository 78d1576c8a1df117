/** Maximum number of losing rows in a brief explanation. */
export const BRIEF_ROWS = 50;
/** Maximum number of conditions of one rule whose text is cached. */
const MOST_KEPT = 4_096;
/** Maximum number of UTF-16 units of the cached texts of one rule. */
const MOST_CHARACTERS = 65_536;
/** Bytes of these units, at two bytes each. */
const WIDEST = 2 * MOST_CHARACTERS;

/** Members of a losing row as JSON text. */
export interface RowText {
  readonly text: string;
  /** Size of the members, counted against the bound of an explanation. */
  readonly size: number;
}

/** A comma, and the losing row up to the arguments of the failed condition: an unclosed object. */
export interface ConditionText extends RowText {
  /** Twice the position of the input whose value follows, plus one if the row is joined with OR; undefined if the object is closed. */
  readonly seenAt: number | undefined;
}

/**
 * The texts of conditions that brief explanations show repeatedly: those of the first rows, if their arguments are the same for every reader.
 * Each is cached when it is first written, while there is room. A rule whose conditions follow changed values gets new texts with its new
 * search.
 */
export class ConditionTexts {
  /** By cell; null if the text depends on the reader. */
  private texts: (ConditionText | null | undefined)[] = [];
  private room = MOST_CHARACTERS;
  private readonly count: number;

  /** `cells` is the number of cells of the first {@link BRIEF_ROWS} rows; they precede all others. */
  constructor(cells: number) {
    this.count = Math.min(cells, MOST_KEPT);
  }

  get(cell: number): ConditionText | undefined {
    return this.texts[cell] ?? undefined;
  }

  /** Caches a text if there is room and every reader gets the same one: `isShared` is called once. */
  keep(cell: number, written: ConditionText, isShared: () => boolean): void {
    const { texts, count, room } = this;
    if (cell >= count || texts[cell] === null || written.text.length > room) return;
    if (texts.length === 0) this.texts = new Array<ConditionText | null | undefined>(count).fill(undefined);
    const isKept = isShared();
    this.texts[cell] = isKept ? written : null;
    if (isKept) this.room -= written.text.length;
  }
}

/** Bytes of one text without its characters, and of its slot. */
const KEPT = 64;
/** UTF-16 units of a text besides column, operator and arguments. */
const MEMBERS = 42;

/** Maximum bytes of the texts of conditions. `bytesOf` estimates the bytes of a cell's column, operator and arguments in a text. */
export const bytesOfConditionTexts = (cells: number, bytesOf: (cell: number) => number): number => {
  const kept = Math.min(cells, MOST_KEPT);
  let bytes = 0;
  for (let cell = 0; cell < kept && bytes < WIDEST; cell += 1) bytes += MEMBERS + bytesOf(cell);
  return kept * KEPT + Math.min(bytes, WIDEST);
};
