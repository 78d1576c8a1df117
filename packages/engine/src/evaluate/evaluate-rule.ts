import { FormulaAllowance } from '@decision/expressions';
import { type CompiledGroup, type CompiledRule, PARTS, type Rebinding, type RuleParts } from '../compile/compiled-rule';
import { type RuleSearch } from '../compile/rule-search';
import { NO_CLAUSE } from '../match/clause-table';
import { defineOwn, type Input, readOwn } from '../match/frame';
import { type EvaluateOptions, type RuleFailure, type RuleOutcome } from '../rule-outcome';
import { isObject, valueTypeOf } from '../values/json-value';
import { answerOf, NO_ROW, type Winners } from './answer';
import { patternFailure, readingFailure, readingTime, strictFailure } from './check-input';
import { Explanation } from './explanation';
import { evaluateCell, EVALUATION_ALLOWANCE, formulaScope, type Request } from './row-outputs';

/**
 * Evaluates a compiled rule: the first matching row answers, or its group; missing outputs take their defaults, and all of them do if no row
 * matches. The same arguments give the same answer. Does not throw for JSON values.
 */
export const evaluateRule = ({ [PARTS]: rule }: CompiledRule, input: Input, options: EvaluateOptions): RuleOutcome => {
  takeOver(rule, rule.bindings.refresh());
  if (isPlain(rule, input, options)) return answerPlainly(rule, input, options.now);
  const started = start(rule, input, options.now, new FormulaAllowance(EVALUATION_ALLOWANCE));
  return started.ok ? evaluateRequest(rule, started.request, options) : started;
};

/**
 * The same answer if it takes at most about ten milliseconds; undefined if it might take longer. For conditions this is known before the
 * evaluation starts, for formulas when they have used a small part of their allowance. Then call `evaluateRule` in a separate thread:
 * docs/adr/0026-long-evaluations-run-in-threads.md.
 */
export const evaluateBriefly = (
  { [PARTS]: rule }: CompiledRule,
  input: Input,
  options: EvaluateOptions,
): RuleOutcome | undefined => {
  if (!mayBeBrief(rule, options)) return undefined;
  takeOver(rule, rule.bindings.refresh());
  const allowance = new FormulaAllowance(BRIEF_ALLOWANCE);
  const outcome = evaluateIfBrief(rule, input, options, allowance);
  return allowance.steps === 0 || allowance.textLength === 0 ? undefined : outcome;
};

const evaluateIfBrief = (
  rule: RuleParts,
  input: Input,
  options: EvaluateOptions,
  allowance: FormulaAllowance,
): RuleOutcome | undefined => {
  if (isPlain(rule, input, options))
    return isBriefFor(rule, input) ? answerPlainly(rule, input, options.now, allowance) : undefined;
  const started = start(rule, input, options.now, allowance);
  if (!started.ok) return started;
  return isBriefFor(rule, started.request.input) ? evaluateRequest(rule, started.request, options) : undefined;
};

/**
 * Whether the first matching row answers alone, an unchecked input is matched as it is, and no explanation is wanted: most evaluations, among
 * them the smallest, which would spend a fifth of their time on the general way.
 */
const isPlain = (rule: RuleParts, input: Input, { explain = 'none' }: EvaluateOptions): boolean =>
  explain === 'none' &&
  rule.groupsByTurn.length === 0 &&
  rule.inputsWithFallback.length === 0 &&
  !rule.strictInput &&
  rule.search.patternCosts.size === 0 &&
  rule.search.readingCosts.size === 0 &&
  rule.bindings.failure === undefined &&
  isObject(input);

/** Usually an earlier evaluation has stored the answer; a request is created only if not. Without an allowance, formulas have all of it. */
const answerPlainly = (rule: RuleParts, input: Input, now: number, allowance?: FormulaAllowance): RuleOutcome => {
  const { frame, matcher, clauses } = rule.search;
  frame.open(input, now);
  const turn = clauses.table.turns[matcher.next(0, NO_CLAUSE)];
  frame.close();
  const known = rule.answers[turn ?? rule.rowCount];
  if (known !== undefined) return known;
  return answerOf(rule, single(turn), {
    input,
    now,
    allowance: allowance ?? new FormulaAllowance(EVALUATION_ALLOWANCE),
  });
};

/** Nanoseconds for the conditions of a brief evaluation, and the time of a test in one row without reading the value. */
const BRIEF_TIME = 5_000_000;
const TEST_TIME = 30;
/** A hundredth of the formula allowance. Less than the limit of one formula, so that it is used up completely if it is insufficient. */
const BRIEF_ALLOWANCE = Object.freeze({ steps: 20_000, textLength: 200_000 });
/** Bytes of a rule whose index is rebuilt in a few milliseconds after a value has changed. */
const BRIEF_REBUILD = 2_000_000;
/** Maximum number of rows in an explanation with `all`, and of outputs in the rows of groups. */
const BRIEF_ROWS = 1_000;
const BRIEF_GROUP_CELLS = 20_000;

/** Whether every input can be evaluated briefly. */
const mayBeBrief = (rule: RuleParts, { explain }: EvaluateOptions): boolean =>
  rule.search.testCount * TEST_TIME <= BRIEF_TIME &&
  !(rule.bindings.isMoving && rule.bytes > BRIEF_REBUILD) &&
  !(explain === 'all' && rule.rowCount > BRIEF_ROWS) &&
  !(rule.groupsByTurn.length > 0 && rule.rowCount * rule.outputs.length > BRIEF_GROUP_CELLS);

const isBriefFor = (rule: RuleParts, input: Input): boolean =>
  readingTime(rule, BRIEF_TIME, input) + rule.search.testCount * TEST_TIME <= BRIEF_TIME;

/** Fills in the defaults of the input. */
const start = (rule: RuleParts, input: Input, now: number, allowance: FormulaAllowance): Completion => {
  const { failure } = rule.bindings;
  if (failure !== undefined) return { ok: false, error: failure };
  if (!isObject(input)) return { ok: false, error: notAnObject(input) };
  const request: Request = { input, now, allowance };
  return rule.inputsWithFallback.length === 0 ? { ok: true, request } : completeInput(rule, request);
};

/** Discards all answers that depend on the previous values. */
const takeOver = (rule: RuleParts, rebinding: Rebinding | undefined): void => {
  if (rebinding === undefined) return;
  rule.answers.fill(undefined);
  if (rebinding.search !== undefined) rule.search = rebinding.search;
};

const evaluateRequest = (rule: RuleParts, request: Request, options: EvaluateOptions): RuleOutcome => {
  const { explain = 'none', audience } = options;
  const { input } = request;
  const refusal =
    (rule.strictInput ? strictFailure(rule, input) : undefined) ??
    patternFailure(rule, input) ??
    readingFailure(rule, input);
  if (refusal !== undefined) return { ok: false, error: refusal };
  const winners = findWinners(rule, request);
  const outcome = answerOf(rule, winners, request);
  if (explain === 'none' || !outcome.ok) return outcome;
  const { output, matched } = outcome;
  return {
    ok: true,
    output,
    matched,
    explanation: new Explanation(rule, request, { winners, matched, mode: explain, audience }),
  };
};

/** Evaluates each input independently; a rejected input does not affect the others. Answers are in input order. */
export const evaluateMany = (
  rule: CompiledRule,
  inputs: readonly unknown[],
  options: EvaluateOptions,
): readonly RuleOutcome[] =>
  // evaluateRule itself rejects inputs that are not objects.
  inputs.map((input) => evaluateRule(rule, input as Readonly<Record<string, unknown>>, options));

const notAnObject = (input: unknown): RuleFailure => ({
  code: 'evaluation_failed',
  message: `The input of a rule is an object of its fields; this one is of type ${valueTypeOf(input)}.`,
  details: { reason: 'input_not_object', came: valueTypeOf(input) },
});

/** Finds the first row that matches and, if it belongs to a group, all matching rows of the group. */
const findWinners = (rule: RuleParts, { input, now }: Request): Winners => {
  const { search, groupsByTurn } = rule;
  const { frame, matcher, clauses } = search;
  frame.open(input, now);
  const clause = matcher.next(0, NO_CLAUSE);
  const turn = clauses.table.turns[clause];
  const group = turn === undefined ? undefined : groupsByTurn[turn];
  const winners =
    group === undefined ? single(turn) : { kind: 'group' as const, group, turns: turnsIn(search, group, clause) };
  frame.close();
  return winners;
};

const single = (turn: number | undefined): Winners => (turn === undefined ? NO_ROW : { kind: 'row', turn });

/** Turns of the matching rows of a group, starting with a known first matching clause. */
const turnsIn = ({ clauses, matcher }: RuleSearch, { end }: CompiledGroup, first: number): readonly number[] => {
  const { table, firstClauses } = clauses;
  const bound = firstClauses[end] ?? 0;
  const turns: number[] = [];
  let clause = first;
  while (clause < bound) {
    const turn = table.turns[clause] ?? 0;
    turns.push(turn);
    // A row joined with OR has several clauses; one that matches is enough.
    clause = matcher.next(firstClauses[turn + 1] ?? bound, bound);
  }
  return turns;
};

type Completion =
  { readonly ok: true; readonly request: Request } | { readonly ok: false; readonly error: RuleFailure };

/** Fills in the defaults of missing inputs, in field order; null is not missing. Formulas see the previous inputs. */
const completeInput = (rule: RuleParts, request: Request): Completion => {
  let completed: Record<string, unknown> | undefined;
  for (const position of rule.inputsWithFallback) {
    const field = rule.inputs[position];
    const input = completed ?? request.input;
    if (field === undefined || readOwn(input, field.reader) !== undefined) continue;
    const { key } = field.reader;
    const environment = formulaScope(rule, { ...request, input }, []);
    const outcome = evaluateCell(field.fallback, environment, { row: undefined, column: key });
    if (!outcome.ok) return outcome;
    // One copy for all defaults: an input may be far wider than the rule.
    completed ??= Object.fromEntries(Object.entries(request.input));
    defineOwn(completed, key, outcome.value);
  }
  return {
    ok: true,
    request: completed === undefined ? request : { ...request, input: completed, given: request.input },
  };
};
