import { type CompiledCell, type CompiledRow, type CompiledRule } from '../compile/compiled-rule';
import { type EvaluateOptions, type LosingRow, type RuleExplanation } from '../rule-outcome';
import { isOfType, valueTypeOf } from '../value-type';

/** Losing rows that a brief explanation lists. */
export const BRIEF_ROWS = 50;
/** Longer texts and larger values are shortened: an explanation must not repeat a megabyte of input in every row. */
const MAX_TEXT = 200;

/** Says which rows made the answer and why each row before them lost. */
export const explain = (
  rule: CompiledRule,
  values: readonly unknown[],
  { now, explain: mode, winner }: EvaluateOptions & { readonly winner: CompiledRow | undefined },
): RuleExplanation => {
  const tried = winner === undefined ? rule.rows : rule.rows.slice(0, rule.rows.indexOf(winner));
  const listed = mode === 'all' ? tried : tried.slice(0, BRIEF_ROWS);
  return {
    matched: winner === undefined ? [] : [winner.index],
    lost: listed.map((row) => whyLost(rule, row, values, now)),
    not_listed: tried.length - listed.length,
  };
};

const whyLost = (rule: CompiledRule, row: CompiledRow, values: readonly unknown[], now: number): LosingRow => {
  if (row.schedule !== undefined && !row.schedule(now)) return { row: row.index, because: 'schedule' };
  if (row.isOr) return { row: row.index, because: 'no_cell_of_or_row' };
  const failed = row.cells.find(({ matches, field }) => !matches(values[field]));
  return failed === undefined
    ? { row: row.index, because: 'cell' }
    : describe(rule, row.index, failed, values[failed.field]);
};

const describe = (rule: CompiledRule, row: number, { field, op, args }: CompiledCell, value: unknown): LosingRow => {
  const { path, type } = rule.fields[field] ?? { path: { key: '' }, type: 'object' as const };
  const base = { row, column: path.key, op, args };
  if (value === undefined || value === null) return { ...base, because: 'missing' };
  if (!isOfType(value, type))
    return { ...base, value: shortened(value), came: valueTypeOf(value), because: 'wrong_type' };
  return { ...base, value: shortened(value), because: 'cell' };
};

const shortened = (value: unknown): unknown => {
  if (typeof value === 'string') return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}...` : value;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return typeof value === 'object' ? 'an object' : value;
};
