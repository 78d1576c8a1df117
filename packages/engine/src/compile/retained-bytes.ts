import { IndexMatcher, type IndexNode, NodeKind } from '../index/index-matcher';
import { CellKind, fieldOf, kindOf } from '../match/clause-table';
import { type Members } from '../values/point-set';
import { BRIEF_ROWS, bytesOfConditionTexts } from './condition-texts';
import { type CompiledOutput, FormulaCell, ReferenceCell, type RuleParts } from './compiled-rule';
import { cellsOfFirst } from './rule-search';

/** Bytes of objects in V8, with 64-bit references. Estimates: a test compares them with the actual heap. */
const RULE = 6_000;
const REFERENCE = 8;
const OBJECT = 56;
const TEXT = 24;
const NUMBER = 16;
const MEMBER = 24;
const MAP_ENTRY = 48;
const TEST = 240;
/** Bytes of a row's cached answer without its values, and of each part of its keys. */
const ANSWER = 160;
const PART = 40;
/** Bytes of a compiled formula for each character of its text. */
const FORMULA_CHARACTER = 120;

/** Bytes of one instruction of a compiled regular expression, and the maximum number of instructions of one table. */
const INSTRUCTION = 100;
const MOST_INSTRUCTIONS = 200_000;

/** Bytes that a compiled rule retains, including its constant answers and the texts of its explanations, which are created on first use. */
export const retainedBytes = (rule: Omit<RuleParts, 'bytes'>, formulaCharacters: number): number => {
  const { clauses, matcher } = rule.search;
  const { table, origins } = clauses;
  const seen = new Set<unknown>();
  let bytes = RULE + formulaCharacters * FORMULA_CHARACTER;
  bytes += table.starts.byteLength + table.turns.byteLength + table.codes.byteLength + table.bounds.byteLength;
  bytes += clauses.firstClauses.byteLength + (table.codes.length * 3 + rule.rowCount * 3) * REFERENCE;
  for (let cell = 0; cell < table.codes.length; cell += 1) {
    const args = origins.args[cell] ?? [];
    bytes += operandBytes(kindOf(table, cell), table.operands[cell]);
    if (args.length > 0) bytes += once(args, seen);
  }
  bytes += rule.rowCount * (ANSWER + PART * rule.partsPerAnswer);
  for (const output of rule.outputs) bytes += outputBytes(output, seen);
  bytes += explanationBytes(rule);
  // Cells that refer to values retain the planned rows, so that they can be laid out again.
  if (rule.bindings.isMoving) bytes += table.codes.length * 3 * OBJECT + rule.rowCount * 4 * OBJECT;
  for (const { total } of rule.search.patternCosts.values()) bytes += Math.min(total, MOST_INSTRUCTIONS) * INSTRUCTION;
  if (!(matcher instanceof IndexMatcher)) return Math.ceil(bytes);
  const { root, pool } = matcher.index;
  return Math.ceil(bytes + rule.search.rankingBytes + pool.byteLength + indexBytes(root));
};

/** Bytes of the cached texts of explanations. */
const explanationBytes = ({ search, inputs, rowCount }: Omit<RuleParts, 'bytes'>): number => {
  const { clauses, fields } = search;
  const { table, origins } = clauses;
  const leading = Math.min(rowCount, BRIEF_ROWS) * MAP_ENTRY;
  const written = bytesOfConditionTexts(cellsOfFirst(BRIEF_ROWS, clauses), (cell) => {
    const key = inputs[fields[fieldOf(table, cell)]?.input ?? 0]?.reader.key ?? '';
    const op = origins.operators[cell]?.entry.op ?? '';
    return key.length + op.length + valueBytes(origins.args[cell] ?? []) - OBJECT; // text has no header
  });
  return leading + written;
};

const outputBytes = ({ cells }: CompiledOutput, seen: Set<unknown>): number => {
  let bytes = OBJECT + cells.length * REFERENCE;
  for (const cell of cells) {
    if (cell instanceof FormulaCell || typeof cell === 'symbol') continue;
    bytes += cell instanceof ReferenceCell ? OBJECT + once(cell.template, seen) : once(cell, seen);
  }
  return bytes;
};

/** Parts that several cells share count once. */
const once = (value: unknown, seen: Set<unknown>): number => {
  if (typeof value === 'object' && value !== null) {
    if (seen.has(value)) return 0;
    seen.add(value);
  }
  return valueBytes(value);
};

/** Bytes of a JSON value, which is nested no deeper than tables may be. */
const valueBytes = (value: unknown): number => {
  if (typeof value === 'string') return TEXT + value.length * (isWide(value) ? 2 : 1);
  if (typeof value === 'number') return Number.isInteger(value) ? REFERENCE : NUMBER;
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = OBJECT;
  // Iterators of frozen arrays are slow.
  if (Array.isArray(value)) for (let at = 0; at < value.length; at += 1) bytes += REFERENCE + valueBytes(value[at]);
  else for (const member of Object.values(value)) bytes += MEMBER + valueBytes(member);
  return bytes;
};

const isWide = (text: string): boolean => /[^\u0000-\u00ff]/.test(text);

/** Texts are shared with the arguments, except folded ones; sets and tests are objects of their own. */
const operandBytes = (kind: number, operand: unknown): number => {
  switch (kind) {
    case CellKind.is:
    case CellKind.isNot:
      return TEXT;
    case CellKind.among:
    case CellKind.notAmong:
      return OBJECT + (operand as Members).size * MAP_ENTRY; // determined by its kind
    case CellKind.test:
    case CellKind.pointTest:
      return TEST;
    default:
      return 0;
  }
};

const indexBytes = (node: IndexNode | undefined): number => {
  if (node === undefined) return 0;
  switch (node.kind) {
    case NodeKind.scan:
      return OBJECT;
    case NodeKind.bitmap:
      return node.columns.reduce(
        (sum, { keys, cuts }) => sum + OBJECT + (keys?.size ?? 0) * MAP_ENTRY + (cuts?.byteLength ?? 0),
        3 * OBJECT + node.bits.byteLength + node.exact.byteLength + node.chosen.byteLength,
      );
    case NodeKind.keySplit: {
      let bytes = 2 * OBJECT + node.children.size * MAP_ENTRY + indexBytes(node.rest);
      for (const child of node.children.values()) bytes += indexBytes(child);
      return bytes;
    }
    case NodeKind.segmentSplit:
      return node.children.reduce(
        (sum, child) => sum + REFERENCE + indexBytes(child),
        2 * OBJECT + node.cuts.byteLength + indexBytes(node.rest),
      );
    case NodeKind.line:
      return 3 * OBJECT + node.cuts.byteLength + node.firsts.byteLength + indexBytes(node.others);
  }
};
