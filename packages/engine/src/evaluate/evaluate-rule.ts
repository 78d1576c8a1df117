import { FormulaAllowance } from '@decision/expressions';
import { type Rebinding } from '../compile/bindings';
import { type CompiledRule } from '../compile/compiled-rule';
import { type Completion, completeInput } from '../outputs/complete-input';
import { EVALUATION_ALLOWANCE, type Request } from '../outputs/formula-scope';
import { type EvaluateOptions, type RuleFailure, type RuleOutcome } from '../rule-outcome';
import { isObject, valueTypeOf } from '../values/value-type';
import { answerOf } from './answer';
import { patternFailure, readingFailure, readingTime, strictFailure } from './check-input';
import { Explanation } from './explanation';
import { findWinners } from './find-winners';

/**
 * Evaluates a compiled rule: the first matching row answers, or the group to which it belongs; outputs that are left out take their
 * defaults, and where no row matches all of them do. The same arguments give the same answer. Does not throw for JSON values.
 */
export const evaluateRule = (
  rule: CompiledRule,
  input: Readonly<Record<string, unknown>>,
  options: EvaluateOptions,
): RuleOutcome => {
  const started = start(rule, input, options, new FormulaAllowance(EVALUATION_ALLOWANCE));
  return started.ok ? evaluateRequest(rule, started.request, options) : started;
};

/**
 * The same answer where it can be given in about ten milliseconds; undefined where it might take longer, which is known before it starts or, of
 * formulas, when they have used up a small part of what they may take. Then ask `evaluateRule` where nobody else waits.
 */
export const evaluateBriefly = (
  rule: CompiledRule,
  input: Readonly<Record<string, unknown>>,
  options: EvaluateOptions,
): RuleOutcome | undefined => {
  if (!mayBeBrief(rule, options)) return undefined;
  const allowance = new FormulaAllowance(BRIEF_ALLOWANCE);
  const started = start(rule, input, options, allowance);
  if (started.ok && !isBriefFor(rule, started.request)) return undefined;
  const outcome = started.ok ? evaluateRequest(rule, started.request, options) : started;
  return allowance.steps === 0 || allowance.textLength === 0 ? undefined : outcome;
};

/** Nanoseconds of a brief evaluation's conditions, and what a test in one row takes beside reading the value. */
const BRIEF_TIME = 5_000_000;
const TEST_TIME = 30;
/** A hundredth of what formulas may take. Less than one formula may take alone, so that it is used up to nothing where it does not suffice. */
const BRIEF_ALLOWANCE = Object.freeze({ steps: 20_000, textLength: 200_000 });
/** Bytes of a rule whose index is built again in a few milliseconds, when a value has changed. */
const BRIEF_REBUILD = 2_000_000;
/** Rows that an explanation of all lists, and outputs of the rows of groups. */
const BRIEF_ROWS = 1_000;
const BRIEF_GROUP_CELLS = 20_000;

/** Whether every input can be evaluated briefly. */
const mayBeBrief = (rule: CompiledRule, { explain }: EvaluateOptions): boolean =>
  rule.search.testCount * TEST_TIME <= BRIEF_TIME &&
  !(rule.bindings.isMoving && rule.bytes > BRIEF_REBUILD) &&
  !(explain === 'all' && rule.rowCount > BRIEF_ROWS) &&
  !(rule.groupsByPlace.length > 0 && rule.rowCount * rule.outputs.length > BRIEF_GROUP_CELLS);

const isBriefFor = (rule: CompiledRule, request: Request): boolean =>
  readingTime(rule, BRIEF_TIME, request) + rule.search.testCount * TEST_TIME <= BRIEF_TIME;

/** Takes over changed values and gives the input its defaults. */
const start = (
  rule: CompiledRule,
  input: Readonly<Record<string, unknown>>,
  { now }: EvaluateOptions,
  allowance: FormulaAllowance,
): Completion => {
  const { bindings } = rule;
  takeOver(rule, bindings.refresh());
  if (bindings.failure !== undefined) return { ok: false, error: bindings.failure };
  if (!isObject(input)) return { ok: false, error: notAnObject(input) };
  const request: Request = { input, now, allowance };
  return rule.inputsWithFallback.length === 0 ? { ok: true, request } : completeInput(rule, request);
};

/** Nothing that was made of the values before may be answered any more. */
const takeOver = (rule: CompiledRule, rebinding: Rebinding | undefined): void => {
  if (rebinding === undefined) return;
  rule.answers.fill(undefined);
  if (rebinding.search !== undefined) rule.search = rebinding.search;
};

const evaluateRequest = (rule: CompiledRule, request: Request, options: EvaluateOptions): RuleOutcome => {
  const { explain = 'none', audience } = options;
  const refusal =
    (rule.strictInput ? strictFailure(rule, request) : undefined) ??
    patternFailure(rule, request) ??
    readingFailure(rule, request);
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

/** Evaluates each input by itself; one that is refused does not touch the others. Answers stand in input order. */
export const evaluateMany = (
  rule: CompiledRule,
  inputs: readonly unknown[],
  options: EvaluateOptions,
): readonly RuleOutcome[] =>
  // Inputs that are no objects are refused by evaluateRule itself.
  inputs.map((input) => evaluateRule(rule, input as Readonly<Record<string, unknown>>, options));

const notAnObject = (input: unknown): RuleFailure => ({
  code: 'evaluation_failed',
  message: `The input of a rule is an object of its fields; this one is of type ${valueTypeOf(input)}.`,
  details: { reason: 'input_not_object', came: valueTypeOf(input) },
});
