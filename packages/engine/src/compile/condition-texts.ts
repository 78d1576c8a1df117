/** Losing rows that a brief explanation lists. */
export const BRIEF_ROWS = 50;
/** Conditions of one rule whose text is kept at most. */
const MOST_KEPT = 4_096;
/** UTF-16 units of the texts of one rule that are kept at most. */
const MOST_CHARACTERS = 65_536;
/** Bytes of these, where each takes two. */
const WIDEST = 2 * MOST_CHARACTERS;

/** Members of a losing row as JSON text. */
export interface RowText {
  readonly text: string;
  /** What the members count of the bound of an explanation. */
  readonly size: number;
}

/** A comma, and the losing row up to the arguments of the condition that failed: an object that is not closed. */
export interface ConditionText extends RowText {
  /** Twice the position of the input whose value follows, and one more where the row is joined with OR; undefined where the object is closed. */
  readonly seenAt: number | undefined;
}

/**
 * The texts of conditions that brief explanations show again and again: those of the first rows, whose arguments are the same for every reader.
 * Each is kept when it is first written, as long as there is room. A rule whose conditions follow changed values gets new ones with its new search.
 */
export class ConditionTexts {
  /** By cell; null where what is shown depends on who reads it. */
  private texts: (ConditionText | null | undefined)[] = [];
  private room = MOST_CHARACTERS;
  private readonly count: number;

  /** `cells` are those of the first {@link BRIEF_ROWS} rows; they come before all others. */
  constructor(cells: number) {
    this.count = Math.min(cells, MOST_KEPT);
  }

  get(cell: number): ConditionText | undefined {
    return this.texts[cell] ?? undefined;
  }

  /** Keeps a text where there is room, if every reader gets the same one: `isShared` is asked once. */
  keep(cell: number, written: ConditionText, isShared: () => boolean): void {
    const { texts, count, room } = this;
    if (cell >= count || texts[cell] === null || written.text.length > room) return;
    if (texts.length === 0) this.texts = new Array<ConditionText | null | undefined>(count).fill(undefined);
    const isKept = isShared();
    this.texts[cell] = isKept ? written : null;
    if (isKept) this.room -= written.text.length;
  }
}

/** Bytes of one text without its characters, and of its place. */
const KEPT = 64;
/** UTF-16 units of a text beside column, operator and arguments. */
const MEMBERS = 42;

/** Bytes that the texts of conditions take at most. `bytesOf` is about what column, operator and arguments of a cell take in a text. */
export const bytesOfConditionTexts = (cells: number, bytesOf: (cell: number) => number): number => {
  const kept = Math.min(cells, MOST_KEPT);
  let bytes = 0;
  for (let cell = 0; cell < kept && bytes < WIDEST; cell += 1) bytes += MEMBERS + bytesOf(cell);
  return kept * KEPT + Math.min(bytes, WIDEST);
};
