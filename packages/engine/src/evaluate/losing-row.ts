import { measureValue } from '@decision/expressions';
import { type CompiledInput, ReferenceCell, type RuleParts, type UsedValues } from '../compile/compiled-rule';
import { type RuleSearch } from '../compile/rule-search';
import { cellHolds, CellKind, fieldOf, kindOf } from '../match/clause-table';
import { ABSENT, PRESENT, readOwn } from '../match/frame';
import { asReference, mapReferences, type StoredValue } from '../references/value-reference';
import { type Audience, type LosingRow } from '../rule-outcome';
import { valueTypeOf } from '../values/json-value';
import { type Request } from './row-outputs';

/** Approximate maximum of UTF-16 units for the losing rows of an explanation; with `all` it may list a million rows. */
export const MAX_SIZE = 2_000_000;
/** The same for one losing row without its key, value and arguments. */
export const ROW_SIZE = 100;
/** Larger arguments are shortened one by one, and a row shows no more of them than this. */
const MAX_ARGUMENTS = 1_000;
/** Longer texts and larger values are shortened: an explanation must not repeat a megabyte of input in every row. */
const MAX_TEXT = 200;
/** More than any operator accepts. */
const MOST_ARGUMENTS = 4;

/** Sources of an explanation. */
export interface Grounds {
  readonly rule: RuleParts;
  readonly request: Request;
  /** The search and the values at the time of the answer: values may change before the losing rows are requested. */
  readonly search: RuleSearch;
  readonly values: UsedValues;
  readonly audience: Audience | undefined;
}

/** The rows among which an explanation finds the losing ones. */
export interface Trial {
  /** Turns of rows before the end that did not lose; undefined if all lost. */
  readonly won: ReadonlySet<number> | undefined;
  /** The turn before which all rows were tried. */
  readonly end: number;
  /** Maximum number of listed losing rows. */
  readonly limit: number;
}

/** The members of a losing row that say which condition failed. */
type FailedCondition = Pick<LosingRow, 'row' | 'column' | 'op' | 'args'>;
/** The members that follow them and state the value that the condition saw. They are the same for all conditions on one input. */
type SeenValue = Pick<LosingRow, 'value' | 'came' | 'because'>;

/** No cell failed. */
export const NO_CELL = -1;

/** The first cell of a row that fails; in a row joined with OR, whose cells have all failed, the first cell. The frame holds the input. */
export const failedCell = ({ clauses, frame }: RuleSearch, turn: number): number => {
  const { table, firstClauses } = clauses;
  const clause = firstClauses[turn] ?? 0;
  const end = table.starts[clause + 1] ?? 0;
  for (let cell = table.starts[clause] ?? 0; cell < end; cell += 1) if (!cellHolds(table, cell, frame)) return cell;
  return NO_CELL;
};

/** Why the row at a turn lost. The frame holds the input. */
export const whyLost = (grounds: Grounds, turn: number): LosingRow => {
  const { rule, search } = grounds;
  const row = rule.rowIndexes[turn] ?? 0;
  const cell = failedCell(search, turn);
  if (cell === NO_CELL) return { row, because: 'cell' };
  if (kindOf(search.clauses.table, cell) === CellKind.schedule) return { row, because: 'schedule' };
  const seen = seenValue(grounds, inputOf(search, cell), rule.orRows[turn] === 1);
  return { ...failedCondition(grounds, row, cell), ...seen };
};

/** Position of the input that a cell reads, directly or through a form. */
export const inputOf = ({ clauses, fields }: RuleSearch, cell: number): number =>
  fields[fieldOf(clauses.table, cell)]?.input ?? 0;

export const failedCondition = (grounds: Grounds, row: number, cell: number): FailedCondition => {
  const { rule, search } = grounds;
  const { origins } = search.clauses;
  return {
    row,
    column: rule.inputs[inputOf(search, cell)]?.reader.key ?? '',
    op: origins.operators[cell]?.entry.op ?? '',
    args: shownArguments(origins.args[cell] ?? [], grounds),
  };
};

/** The value that failed conditions on the input at a position saw. The frame holds the input. */
export const seenValue = (grounds: Grounds, position: number, isOr: boolean): SeenValue => {
  const { rule, search, request } = grounds;
  const input = rule.inputs[position];
  const tag = search.frame.tag(position);
  if (input === undefined || tag === ABSENT) return { because: isOr ? 'no_cell_of_or_row' : 'missing' };
  const value = readOwn(request.input, input.reader);
  const shown = shownInput(value, input, grounds);
  return tag === PRESENT
    ? { value: shown, because: isOr ? 'no_cell_of_or_row' : 'cell' }
    : { value: shown, came: valueTypeOf(value), because: isOr ? 'no_cell_of_or_row' : 'wrong_type' };
};

const shortened = (value: unknown): unknown => {
  if (typeof value === 'string') return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}...` : value;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return typeof value === 'object' ? 'an object' : value;
};

/** A default that refers to values is shown as the reference to readers who may not see them all. */
const shownInput = (value: unknown, { reader, fallback }: CompiledInput, grounds: Grounds): unknown => {
  const { given } = grounds.request;
  const isDefault = given !== undefined && readOwn(given, reader) === undefined;
  if (!isDefault || !(fallback instanceof ReferenceCell)) return shortened(value);
  let isVisible = true;
  mapReferences(fallback.template, (reference) => {
    isVisible &&= visibleValue(reference, grounds) !== undefined;
    return reference;
  });
  if (isVisible) return shortened(value);
  return measureValue(fallback.template, MAX_ARGUMENTS) <= MAX_ARGUMENTS
    ? fallback.template
    : shortened(fallback.template);
};

/** Arguments as written if they are small, with references replaced by the values that the audience may see. */
const shownArguments = (args: readonly unknown[], grounds: Grounds): readonly unknown[] => {
  let left = MAX_ARGUMENTS - measureValue(args, MAX_ARGUMENTS);
  if (left < 0) return args.slice(0, MOST_ARGUMENTS).map(shortened);
  const shown = mapReferences(args, (reference) => {
    const seen = visibleValue(reference, grounds);
    if (seen === undefined) return reference;
    const size = measureValue(seen.value, MAX_ARGUMENTS);
    const isSmall = size <= left;
    if (isSmall) left -= size;
    return { ...reference, value: isSmall ? seen.value : shortened(seen.value) };
  });
  return shown as readonly unknown[]; // a list with other elements is a list
};

/** The value of a reference, if the audience may see it and all of its members. */
const visibleValue = (reference: object, { values, audience }: Grounds): StoredValue | undefined => {
  const stored = values.get(asReference(reference)?.id ?? '');
  if (audience === undefined || stored === undefined) return undefined;
  if (audience === 'unrestricted') return stored;
  const { audiences = [] } = stored;
  const isShared = (groups: readonly string[]): boolean => groups.some((group) => audience.includes(group));
  return audiences.length > 0 && audiences.every(isShared) ? stored : undefined;
};
