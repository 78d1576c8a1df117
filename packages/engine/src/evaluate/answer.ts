import { type CompiledGroup, type CompiledRule } from '../compile/compiled-rule';
import { NOTHING } from '../compile/output-cell';
import { type Request } from '../outputs/formula-scope';
import { valuesOfGroup } from '../outputs/group-outputs';
import { isConstant, type OutputValues, outputOf, valuesOfOnlyRow, withDefaults } from '../outputs/row-outputs';
import { answerFault } from '../outputs/answer-bounds';
import { type RuleFailure, type RuleOutcome } from '../rule-outcome';

/** The rows that answer: one, those of a group that matched, or none. */
export type Winners =
  | { readonly kind: 'none' }
  | { readonly kind: 'row'; readonly place: number }
  | { readonly kind: 'group'; readonly group: CompiledGroup; readonly places: readonly number[] };

export const NO_ROW: Winners = { kind: 'none' };

/** The answer that the winning rows make. What is the same for every input is made once. */
export const answerOf = (rule: CompiledRule, winners: Winners, request: Request): RuleOutcome => {
  switch (winners.kind) {
    case 'group':
      return groupAnswer(rule, winners.group, winners.places, request);
    case 'row':
      return rowAnswer(rule, winners.place, request);
    case 'none':
      return noRowAnswer(rule, request);
  }
};

const rowAnswer = (rule: CompiledRule, place: number, request: Request): RuleOutcome => {
  const known = rule.answers[place];
  if (known !== undefined) return known;
  const outcome = toOutcome(rule, valuesOfOnlyRow(rule, place, request), [rule.rowIndexes[place] ?? 0]);
  if (isKept(rule, place) && isConstant(rule, place)) rule.answers[place] = deepFrozen(outcome);
  return outcome;
};

/** The answer of no row is kept behind those of all rows. */
const noRowAnswer = (rule: CompiledRule, request: Request): RuleOutcome => {
  const known = rule.answers[rule.rowCount];
  if (known !== undefined) return known;
  const nothing = rule.outputs.map(() => NOTHING);
  const outcome = toOutcome(rule, withDefaults(rule, nothing, request), []);
  if (isConstant(rule, undefined)) rule.answers[rule.rowCount] = deepFrozen(outcome);
  return outcome;
};

const groupAnswer = (
  rule: CompiledRule,
  group: CompiledGroup,
  places: readonly number[],
  request: Request,
): RuleOutcome => {
  const combined = valuesOfGroup(rule, group, places, request);
  const values = combined.ok ? withDefaults(rule, combined.values, request) : combined;
  return toOutcome(
    rule,
    values,
    places.map((place) => rule.rowIndexes[place] ?? 0),
  );
};

const toOutcome = (rule: CompiledRule, values: OutputValues, matched: readonly number[]): RuleOutcome => {
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
 * Parts of keys in all answers that are kept: defaults and dotted keys may make an answer of an empty row thousands of objects. The rows of
 * common tables are all kept.
 */
const MAX_KEPT_PARTS = 2_000_000;

const isKept = ({ partsPerAnswer }: CompiledRule, place: number): boolean => place * partsPerAnswer < MAX_KEPT_PARTS;

/** Freezes an answer of constants, which are frozen already: what remains is the answer itself and the objects that dotted keys made. */
const deepFrozen = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.values(value).forEach(deepFrozen);
  return Object.freeze(value);
};
