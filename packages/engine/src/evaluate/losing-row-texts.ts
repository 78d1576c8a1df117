import { measureValue } from '@decision/expressions';
import { BRIEF_ROWS, type ConditionText, type RowText } from '../compile/condition-texts';
import { LeadingTexts } from '../compile/leading-texts';
import { CellKind, kindOf } from '../match/clause-table';
import { holdsReference } from '../references/value-reference';
import { type LosingRow } from '../rule-outcome';
import {
  failedCell,
  failedCondition,
  type Grounds,
  inputOf,
  MAX_SIZE,
  NO_CELL,
  ROW_SIZE,
  seenValue,
  type Trial,
} from './losing-row';

/** JSON text that ends with losing rows, and their number. */
interface Listing {
  readonly text: string;
  readonly count: number;
}

/** With more rows, the text of a value that they saw is made contiguous. */
const FEW_ROWS = 16;

/**
 * Appends the losing rows to a prefix: the JSON texts of the results of `whyLost`, and the same number of rows. The frame holds the input.
 * Usually a row is two texts: one is cached, the other is that of an earlier row, so that none is created.
 */
export const listLosingRows = (beginning: string, grounds: Grounds, { won, end, limit }: Trial): Listing => {
  const { search, rule } = grounds;
  const { conditionTexts, frame } = search;
  const leadingTexts = (search.leadingTexts ??= new LeadingTexts(search.clauses, BRIEF_ROWS));
  leadingTexts.reset();
  const seen = new Array<RowText | undefined>(2 * rule.inputs.length);
  let value: RowText | undefined;
  let valueAt: number | undefined;
  let text = beginning;
  let count = 0;
  let left = MAX_SIZE;
  for (let turn = 0; turn < end && count < limit && left > 0; turn += 1) {
    if (won?.has(turn) === true) continue;
    const cell = leadingTexts.failedCell(turn, frame) ?? failedCell(search, turn);
    const condition = conditionTexts.get(cell) ?? writeRow(grounds, turn, cell);
    text += count === 0 ? condition.text.slice(1) : condition.text;
    left -= condition.size;
    count += 1;
    const { seenAt } = condition;
    if (seenAt === undefined) continue;
    // Usually the rows lose by the same input as the previous rows.
    if (value === undefined || seenAt !== valueAt) value = seen[seenAt] ??= writeSeen(grounds, seenAt, end > FEW_ROWS);
    valueAt = seenAt;
    text += value.text;
    left -= value.size;
  }
  return { text, count };
};

/** A losing row up to the value that its condition saw; the whole row if no condition failed. */
const writeRow = (grounds: Grounds, turn: number, cell: number): ConditionText => {
  const { rule, search } = grounds;
  const row = rule.rowIndexes[turn] ?? 0;
  if (cell === NO_CELL || kindOf(search.clauses.table, cell) === CellKind.schedule) {
    const whole = { row, because: cell === NO_CELL ? 'cell' : 'schedule' };
    return { text: `,${JSON.stringify(whole)}`, size: sizeOf(whole), seenAt: undefined };
  }
  const condition = failedCondition(grounds, row, cell);
  const seenAt = 2 * inputOf(search, cell) + (rule.orRows[turn] ?? 0);
  const written = { text: flat([',', JSON.stringify(condition).slice(0, -1)]), size: sizeOf(condition), seenAt };
  search.conditionTexts.keep(cell, written, () => !holdsReference(search.clauses.origins.args[cell]));
  return written;
};

const sizeOf = (row: object): number => ROW_SIZE + measureValue(row, MAX_SIZE);

/** The end of a row, by reason. */
const END: Readonly<Record<LosingRow['because'], string>> = {
  cell: ',"because":"cell"}',
  wrong_type: ',"because":"wrong_type"}',
  missing: ',"because":"missing"}',
  no_cell_of_or_row: ',"because":"no_cell_of_or_row"}',
  schedule: ',"because":"schedule"}',
};

/** The value that conditions on an input saw: the end of a row. It is created for each explained input, so it must be fast. */
const writeSeen = (grounds: Grounds, seenAt: number, isRepeated: boolean): RowText => {
  const { value, came, because } = seenValue(grounds, seenAt >>> 1, seenAt % 2 === 1);
  const end = END[because];
  const size = 'because'.length + 1 + because.length;
  if (value === undefined) return { text: end, size };
  const shown = jsonOf(value);
  const seen = shown === undefined ? '' : `,"value":${shown}`;
  const sizeOfSeen = 'value'.length + (typeof value === 'string' ? 1 + value.length : measureValue(value, MAX_SIZE));
  if (came === undefined) return { text: isRepeated ? flat([seen, end]) : seen + end, size: size + sizeOfSeen };
  return { text: flat([seen, ',"came":"', came, '"', end]), size: size + sizeOfSeen + 'came'.length + 1 + came.length };
};

/** As `JSON.stringify`, whose call alone takes longer than this for short texts and numbers; undefined for values that JSON cannot represent. */
const jsonOf = (value: unknown): string | undefined => {
  if (typeof value === 'string' && isPlainText(value)) return `"${value}"`;
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return JSON.stringify(value);
};

/** Longer texts are checked faster by `JSON.stringify`. */
const SHORT_TEXT = 64;
/** Code points of quotes and backslashes, which JSON escapes, and of the first and the last printable ASCII character. */
const [QUOTE, BACKSLASH, SPACE, TILDE] = [34, 92, 32, 126];

/** Whether a text is short, and JSON writes it as it is. */
const isPlainText = (text: string): boolean => {
  if (text.length > SHORT_TEXT) return false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < SPACE || code > TILDE || code === QUOTE || code === BACKSLASH) return false;
  }
  return true;
};

/** One contiguous text: texts that are copied often must not be concatenated each time. */
const flat = (parts: readonly string[]): string => parts.join('');
