import { measureValue } from '@decision/expressions';
import { type CompiledInput, ReferenceCell, type RuleParts, type UsedValues } from '../compile/compiled-rule';
import { type RuleSearch } from '../compile/rule-search';
import { cellHolds, CellKind, fieldOf, kindOf } from '../match/clause-table';
import { isOfType, readOwn } from '../match/frame';
import { asReference, mapReferences, type StoredValue } from '../references/value-reference';
import { type Audience, type ExplainMode, type LosingRow, type RuleExplanation } from '../rule-outcome';
import { valueTypeOf } from '../values/json-value';
import { type Winners } from './answer';
import { type Request } from './row-outputs';

/** Losing rows that a brief explanation lists. */
export const BRIEF_ROWS = 50;
/** UTF-16 units, roughly, of the losing rows that an explanation lists at most; with `all` it may list a million rows. */
const MAX_SIZE = 2_000_000;
/** The same of one losing row without its key, value and arguments. */
const ROW_SIZE = 100;
/** Arguments that are larger are shortened one by one, and a row shows no more of them than this. */
const MAX_ARGUMENTS = 1_000;
/** Longer texts and larger values are shortened: an explanation must not repeat a megabyte of input in every row. */
const MAX_TEXT = 200;

export interface Decision {
  readonly winners: Winners;
  readonly matched: readonly number[];
  readonly mode: ExplainMode;
  readonly audience: Audience | undefined;
}

/** Sources of an explanation. */
interface Grounds {
  readonly rule: RuleParts;
  readonly request: Request;
  /** The search and the values as they were when the answer was made: values may change before the losing rows are asked for. */
  readonly search: RuleSearch;
  readonly values: UsedValues;
  readonly audience: Audience | undefined;
}

interface Losers {
  readonly lost: readonly LosingRow[];
  readonly not_listed: number;
}

/** Which rows made an answer, and why each row before them lost. The latter is worked out when it is first asked for. */
export class Explanation implements RuleExplanation {
  readonly matched: readonly number[];
  readonly group?: string;
  private losers: Losers | undefined;
  private readonly grounds: Grounds;

  constructor(
    rule: RuleParts,
    request: Request,
    private readonly decision: Decision,
  ) {
    this.matched = decision.matched;
    const { audience } = decision;
    this.grounds = { rule, request, search: rule.search, values: rule.bindings.values, audience };
    if (decision.winners.kind === 'group') this.group = decision.winners.group.id;
  }

  get lost(): readonly LosingRow[] {
    return this.findLosers().lost;
  }

  get not_listed(): number {
    return this.findLosers().not_listed;
  }

  toJSON(): unknown {
    const { matched, group, lost, not_listed } = this;
    return { matched, ...(group === undefined ? {} : { group }), lost, not_listed };
  }

  private findLosers(): Losers {
    this.losers ??= losersOf(this.grounds, this.decision);
    return this.losers;
  }
}

const losersOf = (grounds: Grounds, { winners, mode }: Decision): Losers => {
  const { rule, search, request } = grounds;
  const won = new Set(winners.kind === 'group' ? winners.places : winners.kind === 'row' ? [winners.place] : []);
  const end = winners.kind === 'none' ? rule.rowCount : winners.kind === 'row' ? winners.place : winners.group.end;
  const limit = mode === 'all' ? Infinity : BRIEF_ROWS;
  const lost: LosingRow[] = [];
  search.frame.open(request.input, request.now);
  let left = MAX_SIZE;
  for (let place = 0; place < end && lost.length < limit && left > 0; place += 1) {
    if (won.has(place)) continue;
    const row = whyLost(grounds, place);
    left -= ROW_SIZE + measureValue(row, MAX_SIZE);
    lost.push(row);
  }
  search.frame.close();
  const wonBeforeEnd = winners.kind === 'group' ? won.size : 0;
  return { lost, not_listed: end - wonBeforeEnd - lost.length };
};

/** The first cell of a row that fails; in a row joined with OR, where all cells have failed, the first cell. */
const whyLost = (grounds: Grounds, place: number): LosingRow => {
  const { rule, search } = grounds;
  const { table, firstClauses } = search.clauses;
  const row = rule.rowIndexes[place] ?? 0;
  const first = firstClauses[place] ?? 0;
  for (let cell = table.starts[first] ?? 0; cell < (table.starts[first + 1] ?? 0); cell += 1) {
    if (cellHolds(table, cell, search.frame)) continue;
    if (kindOf(table, cell) === CellKind.schedule) return { row, because: 'schedule' };
    return describeCell(grounds, row, cell, rule.orRows[place] === 1);
  }
  return { row, because: 'cell' };
};

const describeCell = (grounds: Grounds, row: number, cell: number, isOr: boolean): LosingRow => {
  const { rule, search, request } = grounds;
  const { origins, table } = search.clauses;
  const input = rule.inputs[search.fields[fieldOf(table, cell)]?.input ?? 0];
  const base = {
    row,
    column: input?.reader.key ?? '',
    op: origins.operators[cell]?.entry.op ?? '',
    args: shownArguments(origins.args[cell] ?? [], grounds),
  };
  const value = input === undefined ? undefined : readOwn(request.input, input.reader);
  if (value === undefined || value === null) return { ...base, because: isOr ? 'no_cell_of_or_row' : 'missing' };
  const seen = { ...base, value: input === undefined ? shortened(value) : shownInput(value, input, grounds) };
  if (input !== undefined && !isOfType(value, input.type)) {
    return { ...seen, came: valueTypeOf(value), because: isOr ? 'no_cell_of_or_row' : 'wrong_type' };
  }
  return { ...seen, because: isOr ? 'no_cell_of_or_row' : 'cell' };
};

const shortened = (value: unknown): unknown => {
  if (typeof value === 'string') return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}...` : value;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return typeof value === 'object' ? 'an object' : value;
};

/** A default that refers to values is shown as the reference to whoever may not see them all. */
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

/** Arguments as they are written where they are small, references with the values that the audience may see. */
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

/** The value of a reference, where the audience may see it and all of its members. */
const visibleValue = (reference: object, { values, audience }: Grounds): StoredValue | undefined => {
  const stored = values.get(asReference(reference)?.id ?? '');
  if (audience === undefined || stored === undefined) return undefined;
  if (audience === 'unrestricted') return stored;
  const { audiences = [] } = stored;
  const isShared = (groups: readonly string[]): boolean => groups.some((group) => audience.includes(group));
  return audiences.length > 0 && audiences.every(isShared) ? stored : undefined;
};

/** More than any operator takes. */
const MOST_ARGUMENTS = 4;
