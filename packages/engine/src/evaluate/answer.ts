import { measureValue } from '@decision/expressions';
import { type CompiledGroup, NOTHING, type RuleParts } from '../compile/compiled-rule';
import { type RuleFailure, type RuleOutcome } from '../rule-outcome';
import { isObject, isTooDeep } from '../values/json-value';
import {
  type CellOutcome,
  evaluateFormula,
  formulaScope,
  isConstant,
  outputOf,
  type OutputValues,
  type Request,
  valuesOfOnlyRow,
  valuesOfRow,
  withDefaults,
} from './row-outputs';

/** The rows that answer: one row, the matching rows of a group, or none. */
export type Winners =
  | { readonly kind: 'none' }
  | { readonly kind: 'row'; readonly turn: number }
  | { readonly kind: 'group'; readonly group: CompiledGroup; readonly turns: readonly number[] };

export const NO_ROW: Winners = { kind: 'none' };

/** The answer of the winning rows. Answers that are the same for every input are created once. */
export const answerOf = (rule: RuleParts, winners: Winners, request: Request): RuleOutcome => {
  switch (winners.kind) {
    case 'group':
      return groupAnswer(rule, winners.group, winners.turns, request);
    case 'row':
      return rowAnswer(rule, winners.turn, request);
    case 'none':
      return noRowAnswer(rule, request);
  }
};

const rowAnswer = (rule: RuleParts, turn: number, request: Request): RuleOutcome => {
  const known = rule.answers[turn];
  if (known !== undefined) return known;
  const outcome = toOutcome(rule, valuesOfOnlyRow(rule, turn, request), [rule.rowIndexes[turn] ?? 0]);
  if (isKept(rule, turn) && isConstant(rule, turn)) rule.answers[turn] = deepFrozen(outcome);
  return outcome;
};

/** The answer of no row is stored after those of all rows. */
const noRowAnswer = (rule: RuleParts, request: Request): RuleOutcome => {
  const known = rule.answers[rule.rowCount];
  if (known !== undefined) return known;
  const nothing = rule.outputs.map(() => NOTHING);
  const outcome = toOutcome(rule, withDefaults(rule, nothing, request), []);
  if (isConstant(rule, undefined)) rule.answers[rule.rowCount] = deepFrozen(outcome);
  return outcome;
};

const groupAnswer = (
  rule: RuleParts,
  group: CompiledGroup,
  turns: readonly number[],
  request: Request,
): RuleOutcome => {
  const combined = valuesOfGroup(rule, group, turns, request);
  const values = combined.ok ? withDefaults(rule, combined.values, request) : combined;
  return toOutcome(
    rule,
    values,
    turns.map((turn) => rule.rowIndexes[turn] ?? 0),
  );
};

const toOutcome = (rule: RuleParts, values: OutputValues, matched: readonly number[]): RuleOutcome => {
  if (!values.ok) return values;
  const fault = answerFault(values.values);
  if (fault !== undefined) return { ok: false, error: tooLarge(fault) };
  return { ok: true, output: outputOf(rule, values.values), matched };
};

const tooLarge = (fault: string): RuleFailure => ({
  code: 'evaluation_failed',
  message: `The answer ${fault}.`,
  details: { reason: 'answer_too_large' },
});

/**
 * Maximum number of key parts in all cached answers: defaults and dotted keys may turn an empty row into an answer of thousands of objects.
 * Tables of common size are cached completely.
 */
const MAX_KEPT_PARTS = 2_000_000;

const isKept = ({ partsPerAnswer }: RuleParts, turn: number): boolean => turn * partsPerAnswer < MAX_KEPT_PARTS;

/** Freezes an answer of constants, which are frozen already: only the answer itself and the objects of dotted keys remain. */
const deepFrozen = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.values(value).forEach(deepFrozen);
  return Object.freeze(value);
};

/** Combined outputs of the matching rows of a group, without defaults. `turns` are the positions of the rows, at least one, in order. */
const valuesOfGroup = (
  rule: RuleParts,
  group: CompiledGroup,
  turns: readonly number[],
  request: Request,
): OutputValues => {
  const rows: (readonly unknown[])[] = [];
  for (const turn of turns) {
    const outcome = valuesOfRow(rule, turn, request);
    if (!outcome.ok) return outcome;
    rows.push(outcome.values);
  }
  const values: unknown[] = [];
  for (const position of rule.outputs.keys()) {
    const column = rows.map((row) => row[position]).filter((value) => value !== NOTHING);
    const outcome = combine({ rule, group, position, rowCount: rows.length, request, earlier: values }, column);
    if (!outcome.ok) return outcome;
    values.push(outcome.value);
  }
  return { ok: true, values };
};

/** State of combining one output of a group. */
interface Combination {
  readonly rule: RuleParts;
  readonly group: CompiledGroup;
  readonly position: number;
  readonly rowCount: number;
  readonly request: Request;
  /** Values of the previous outputs. */
  readonly earlier: readonly unknown[];
}

const combine = (combination: Combination, column: readonly unknown[]): CellOutcome => {
  const { group, position } = combination;
  const accumulator = group.policy === 'compute' ? group.accumulators.get(position) : undefined;
  const values = column.filter((value) => value !== null);
  if (accumulator !== undefined) return accumulate(combination, values);
  if (values.length === 0) return { ok: true, value: column.length > 0 ? null : NOTHING };
  if (group.policy !== 'add') return { ok: true, value: values[0] };
  const total = addUp(values);
  return total === undefined ? { ok: false, error: cannotAdd(combination) } : { ok: true, value: total };
};

/** If an accumulator returns null, the output takes its default. */
const accumulate = (combination: Combination, values: readonly unknown[]): CellOutcome => {
  const { rule, group, position, rowCount, request, earlier } = combination;
  const formula = group.accumulators.get(position);
  if (formula === undefined) return { ok: true, value: NOTHING };
  const environment = formulaScope(rule, request, earlier, { values, rows: rowCount });
  const outcome = evaluateFormula(formula, environment, { row: undefined, column: keyAt(rule, position) });
  return outcome.ok && outcome.value === null ? { ok: true, value: NOTHING } : outcome;
};

const keyAt = (rule: RuleParts, position: number): string => rule.outputs[position]?.path.key ?? '';

const cannotAdd = ({ rule, group, position }: Combination): RuleFailure => {
  const column = keyAt(rule, position);
  return {
    code: 'evaluation_failed',
    message: `The group "${group.id}" cannot add up the values of the output "${column}": they are not of one type, or their sum is too large.`,
    column,
    details: { reason: 'cannot_add', group: group.id, column },
  };
};

/**
 * Combined value of one output over the matching rows of a group: at least one, none of them null. Numbers are added, texts and lists
 * concatenated, booleans combined by "or", members of objects merged, later ones first. Undefined if the values have different types, or are too
 * large together.
 */
const addUp = (values: readonly unknown[]): unknown => {
  if (answerFault(values) !== undefined) return undefined;
  if (areAll(values, (value): value is number => typeof value === 'number')) {
    const sum = values.reduce((total, value) => total + value, 0);
    return Number.isFinite(sum) ? sum : undefined;
  }
  if (areAll(values, (value) => typeof value === 'string')) return values.join('');
  if (areAll(values, (value) => typeof value === 'boolean')) return values.includes(true);
  if (areAll(values, (value): value is unknown[] => Array.isArray(value))) return values.flat(1);
  if (areAll(values, isObject)) return Object.fromEntries(values.flatMap((value) => Object.entries(value)));
  return undefined;
};

const areAll = <T>(values: readonly unknown[], isOne: (value: unknown) => value is T): values is readonly T[] =>
  values.every(isOne);

/**
 * Maximum number of elements, members and UTF-16 units of all values of one answer. A list that rows, outputs or values share is small in memory
 * and enormous as JSON.
 */
export const MAX_ANSWER_SIZE = 10_000_000;
/** Maximum nesting of lists and objects in an answer: JSON serialization recurses. */
export const MAX_ANSWER_DEPTH = 1_000;

/** Why values cannot be an answer, as the end of a sentence about them; undefined if they can. Scalars cost almost nothing. */
export const answerFault = (values: readonly unknown[]): string | undefined => {
  let left = MAX_ANSWER_SIZE;
  for (const value of values) {
    if (typeof value === 'string') left -= value.length;
    else if (typeof value === 'object' && value !== null) {
      left -= measureValue(value, left);
      if (left >= 0 && isTooDeep(value, MAX_ANSWER_DEPTH)) return `nests deeper than ${MAX_ANSWER_DEPTH} levels`;
    } else left -= 1;
    if (left < 0) return `is larger than ${MAX_ANSWER_SIZE} elements and characters`;
  }
  return undefined;
};
