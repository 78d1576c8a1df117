import { type FieldType, type FlowCondition, type RuleTable } from '@decision/contracts';
import { checkRule, type CompiledRule, compileRule, evaluateRule, operatorNames } from '@decision/engine';
import { isMissing } from '@decision/values';
import { offered, shown } from './flow-problem';
import { type EdgeType } from './wiring';

/** A compiled condition on one value. */
export type Condition = (value: unknown, now: number) => boolean;

type CompiledCondition =
  { readonly ok: true; readonly holds: Condition } | { readonly ok: false; readonly fault: string };

/** Types that a field with conditions can have. */
const TYPES = ['string', 'number', 'boolean', 'date', 'list', 'object'] as const satisfies readonly FieldType[];

/** FL-25: whether a value is neither missing, false, 0, nor the empty text or list. */
const isTruthy = (value: unknown): boolean =>
  !(isMissing(value) || value === false || value === 0 || value === '' || (Array.isArray(value) && value.length === 0));

/**
 * Compiles a condition on a value of a type. It becomes a decision table of one row, so that operators, arguments and their problems mean
 * the same as in rules. The fault completes a sentence that names the node.
 */
export const compileCondition = ({ operator, args = [] }: FlowCondition, type: EdgeType): CompiledCondition => {
  if (operator === undefined || operator === '') return { ok: true, holds: (value) => value === true };
  if (operator === 'truthy') return { ok: true, holds: isTruthy };
  if (operator === 'falsy') return { ok: true, holds: (value) => !isTruthy(value) };
  const known = type === 'any' ? TYPES : [type];
  const types = known.filter((one) => operatorNames(one).includes(operator));
  if (types.length === 0) {
    const names = [...new Set(known.flatMap((one) => operatorNames(one))), 'truthy', 'falsy'];
    const word = type === 'any' ? 'no type' : `a ${type}`;
    return {
      ok: false,
      fault: `uses the operator "${shown(operator)}", which ${word} has; use one of ${offered(names)}`,
    };
  }
  const rules = new Map<FieldType, CompiledRule>();
  let fault = '';
  for (const one of types) {
    const table = tableOf(one, operator, args);
    const [problem] = checkRule(table);
    if (problem === undefined) rules.set(one, compileRule(table));
    else fault = problem.message;
  }
  if (rules.size === 0) return { ok: false, fault: `cannot be used: ${fault.replace(/\.$/, '')}` };
  const [first] = rules.values();
  return { ok: true, holds: type !== 'any' && first !== undefined ? holding(first) : holdingByType(rules) };
};

const tableOf = (type: FieldType, op: string, args: readonly unknown[]): RuleTable => ({
  requestSchema: [{ key: 'value', type }],
  responseSchema: [{ key: 'holds', type: 'boolean' }],
  conditions: [{ request: { value: { op, args: [...args] } }, response: { holds: { value: true } } }],
});

const holding =
  (rule: CompiledRule): Condition =>
  (value, now) => {
    const outcome = evaluateRule(rule, { value }, { now });
    return outcome.ok && outcome.matched.length > 0;
  };

/** Evaluates it as a field of the actual value's type, if that type has the operator. */
const holdingByType = (rules: ReadonlyMap<FieldType, CompiledRule>): Condition => {
  const byType = new Map([...rules].map(([type, rule]) => [type, holding(rule)]));
  return (value, now) => typesOf(value).some((type) => byType.get(type)?.(value, now) ?? false);
};

/** The field types that a value may be of. */
const typesOf = (value: unknown): readonly FieldType[] => {
  if (isMissing(value)) return TYPES;
  if (Array.isArray(value)) return ['list'];
  switch (typeof value) {
    case 'string':
      return ['string', 'date'];
    case 'number':
      return ['number', 'date'];
    case 'boolean':
      return ['boolean'];
    default:
      return ['object'];
  }
};
