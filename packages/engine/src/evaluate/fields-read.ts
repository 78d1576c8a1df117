import { type CompiledRule, FormulaCell, PARTS, type RuleParts } from '../compile/compiled-rule';

const known = new WeakMap<RuleParts, readonly string[] | undefined>();

/**
 * Keys of the input members that evaluations without explanation read; the others may be omitted. Undefined if formulas access members by name,
 * or if keys with dots refer to parts of members.
 */
export const fieldsReadBy = ({ [PARTS]: rule }: CompiledRule): readonly string[] | undefined => {
  if (!known.has(rule)) known.set(rule, findFields(rule));
  return known.get(rule);
};

const findFields = (rule: RuleParts): readonly string[] | undefined => {
  const { inputs, outputs, groupsByTurn } = rule;
  if (inputs.some(({ reader }) => reader.isNested || !reader.isSafe)) return undefined;
  const fallbacks = [...inputs, ...outputs].map(({ fallback }) => fallback);
  if (fallbacks.some(isFormula) || outputs.some(({ cells }) => cells.some(isFormula))) return undefined;
  if (groupsByTurn.some((group) => group !== undefined && group.accumulators.size > 0)) return undefined;
  return inputs.map(({ reader }) => reader.key);
};

const isFormula = (cell: unknown): boolean => cell instanceof FormulaCell;
