import { measureValue } from '@decision/expressions';
import { type CompiledRule } from '../compile/compiled-rule';
import { readOwn } from '../fields/field-path';
import { cellHolds, CellKind, fieldOf, kindOf } from '../match/clause-table';
import { isOfType } from '../match/frame';
import { type Request } from '../outputs/formula-scope';
import { type ExplainMode, type LosingRow, type RuleExplanation } from '../rule-outcome';
import { valueTypeOf } from '../values/value-type';
import { type Winners } from './answer';

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

  constructor(
    private readonly rule: CompiledRule,
    private readonly request: Request,
    private readonly decision: Decision,
  ) {
    this.matched = decision.matched;
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
    this.losers ??= losersOf(this.rule, this.request, this.decision);
    return this.losers;
  }
}

const losersOf = (rule: CompiledRule, request: Request, { winners, mode }: Decision): Losers => {
  const won = new Set(winners.kind === 'group' ? winners.places : winners.kind === 'row' ? [winners.place] : []);
  const end = winners.kind === 'none' ? rule.rowCount : winners.kind === 'row' ? winners.place : winners.group.end;
  const limit = mode === 'all' ? Infinity : BRIEF_ROWS;
  const lost: LosingRow[] = [];
  rule.frame.open(request.input, request.now);
  let left = MAX_SIZE;
  for (let place = 0; place < end && lost.length < limit && left > 0; place += 1) {
    if (won.has(place)) continue;
    const row = whyLost(rule, place, request);
    left -= ROW_SIZE + measureValue(row, MAX_SIZE);
    lost.push(row);
  }
  rule.frame.close();
  const wonBeforeEnd = winners.kind === 'group' ? won.size : 0;
  return { lost, not_listed: end - wonBeforeEnd - lost.length };
};

/** The first cell of a row that fails; of a row joined with OR, of which all fail, the first. */
const whyLost = (rule: CompiledRule, place: number, request: Request): LosingRow => {
  const { table, firstClauses } = rule.clauses;
  const row = rule.rowIndexes[place] ?? 0;
  const first = firstClauses[place] ?? 0;
  for (let cell = table.starts[first] ?? 0; cell < (table.starts[first + 1] ?? 0); cell += 1) {
    if (cellHolds(table, cell, rule.frame)) continue;
    if (kindOf(table, cell) === CellKind.schedule) return { row, because: 'schedule' };
    return describeCell(rule, row, cell, { request, isOr: rule.orRows[place] === 1 });
  }
  return { row, because: 'cell' };
};

const describeCell = (
  rule: CompiledRule,
  row: number,
  cell: number,
  { request, isOr }: { readonly request: Request; readonly isOr: boolean },
): LosingRow => {
  const { origins, table } = rule.clauses;
  const input = rule.inputs[fieldOf(table, cell)];
  const base = {
    row,
    column: input?.reader.key ?? '',
    op: origins.operators[cell]?.entry.op ?? '',
    args: shortenedArguments(origins.args[cell] ?? []),
  };
  const value = input === undefined ? undefined : readOwn(request.input, input.reader);
  if (value === undefined || value === null) return { ...base, because: isOr ? 'no_cell_of_or_row' : 'missing' };
  const seen = { ...base, value: shortened(value) };
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

/** Arguments as they are written where they are small. */
const shortenedArguments = (args: readonly unknown[]): readonly unknown[] =>
  measureValue(args, MAX_ARGUMENTS) <= MAX_ARGUMENTS ? args : args.slice(0, MOST_ARGUMENTS).map(shortened);

/** More than any operator takes. */
const MOST_ARGUMENTS = 4;
