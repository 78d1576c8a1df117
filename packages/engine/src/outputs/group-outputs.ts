import { type CompiledGroup, type CompiledRule } from '../compile/compiled-rule';
import { NOTHING } from '../compile/output-cell';
import { type RuleFailure } from '../rule-outcome';
import { addUp } from './combine-values';
import { type CellOutcome, evaluateFormula } from './evaluate-cell';
import { formulaScope, type Request } from './formula-scope';
import { type OutputValues, valuesOfRow } from './row-outputs';

/** Combined outputs of the matching rows of a group, without defaults. `places` are those of the rows, at least one, in their order. */
export const valuesOfGroup = (
  rule: CompiledRule,
  group: CompiledGroup,
  places: readonly number[],
  request: Request,
): OutputValues => {
  const rows: (readonly unknown[])[] = [];
  for (const place of places) {
    const outcome = valuesOfRow(rule, place, request);
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

/** One output of a group that is being combined. */
interface Combination {
  readonly rule: CompiledRule;
  readonly group: CompiledGroup;
  readonly position: number;
  readonly rowCount: number;
  readonly request: Request;
  /** Values of the outputs before it. */
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

/** An accumulator that answers null leaves the output to its default. */
const accumulate = (combination: Combination, values: readonly unknown[]): CellOutcome => {
  const { rule, group, position, rowCount, request, earlier } = combination;
  const formula = group.accumulators.get(position);
  if (formula === undefined) return { ok: true, value: NOTHING };
  const environment = formulaScope(rule, request, earlier, { values, rows: rowCount });
  const outcome = evaluateFormula(formula, environment, { row: undefined, column: keyAt(rule, position) });
  return outcome.ok && outcome.value === null ? { ok: true, value: NOTHING } : outcome;
};

const keyAt = (rule: CompiledRule, position: number): string => rule.outputs[position]?.path.key ?? '';

const cannotAdd = ({ rule, group, position }: Combination): RuleFailure => {
  const column = keyAt(rule, position);
  return {
    code: 'evaluation_failed',
    message: `The group "${group.id}" cannot add up the values of the output "${column}": they are not of one type, or their sum is too large.`,
    column,
    details: { reason: 'cannot_add', group: group.id, column },
  };
};
