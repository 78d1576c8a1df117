import { type FieldType, type FlowGraph, type FlowNode, type RuleTable } from '@decision/contracts';
import { compileRule } from '@decision/engine';
import {
  checkFlow,
  compileFlow,
  type CompiledRuleAsset,
  evaluateFlow,
  type FlowOutcome,
  type FlowPlan,
} from '../../src';
import { type FlowAssets } from '../../src/assets';
import { type FlowProblem } from '../../src/flow-problem';
import { type RunOptions } from '../../src/run/outcome';

/** 2026-01-15, a Thursday. */
export const NOW = Date.UTC(2026, 0, 15);

type Fields = Readonly<Record<string, FieldType>>;

/** A rule that answers formulas over any inputs. */
export const formulaRule = (
  slug: string,
  inputs: Fields,
  formulas: Readonly<Record<string, string>>,
): CompiledRuleAsset =>
  ruleAsset(slug, {
    requestSchema: Object.entries(inputs).map(([key, type]) => ({ key, type })),
    responseSchema: Object.keys(formulas).map((key) => ({ key, type: 'function' })),
    conditions: [{ response: Object.fromEntries(Object.entries(formulas).map(([key, value]) => [key, { value }])) }],
  });

export const ruleAsset = (slug: string, table: RuleTable, version = 1): CompiledRuleAsset => ({
  id: `rule-${slug}`,
  slug,
  version,
  inputs: table.requestSchema.map(({ key, type }) => ({ key, type })),
  outputs: table.responseSchema.map(({ key, type }) => ({ key, type })),
  rule: compileRule(table),
});

/** The rules that flows of the tests use. */
export const rules: readonly CompiledRuleAsset[] = [
  // Accepts everything that a test sends, and adds nothing.
  ruleAsset('input', {
    requestSchema: [
      { key: 'n', type: 'number' },
      { key: 'name', type: 'string' },
      { key: 'flag', type: 'boolean' },
      { key: 'other', type: 'boolean' },
      { key: 'list', type: 'list' },
      { key: 'thing', type: 'object' },
      { key: 'place.city', type: 'string' },
    ],
    responseSchema: [{ key: 'seen', type: 'boolean' }],
    conditions: [{ response: { seen: { value: true } } }],
  }),
  formulaRule('double', { n: 'number' }, { twice: 'n * 2' }),
  formulaRule('add', { a: 'number', b: 'number' }, { sum: 'a + b' }),
  formulaRule('fail', { n: 'number' }, { never: 'n / 0' }),
  ruleAsset('grade', {
    requestSchema: [{ key: 'n', type: 'number' }],
    responseSchema: [{ key: 'grade', type: 'string' }],
    conditions: [
      { request: { n: { op: 'greater than', args: [10] } }, response: { grade: { value: 'high' } } },
      { request: { n: { op: 'less than or equal to', args: [10] } }, response: { grade: { value: 'low' } } },
    ],
  }),
  ruleAsset('nested', {
    requestSchema: [{ key: 'place.city', type: 'string' }],
    responseSchema: [{ key: 'tax.rate', type: 'number' }],
    conditions: [
      { request: { 'place.city': { op: 'equals', args: ['Bern'] } }, response: { 'tax.rate': { value: 8 } } },
    ],
  }),
];

export const assetsOf = (
  flows: readonly FlowPlan[] = [],
  known: readonly CompiledRuleAsset[] = rules,
): FlowAssets<CompiledRuleAsset, FlowPlan> => ({
  findRule: (slug, selector) =>
    known.find((rule) => rule.slug === slug && (selector === 'latest' || selector === String(rule.version))),
  findFlow: (slug, version) => flows.find((flow) => flow.slug === slug && flow.version === version),
});

/** A node, as `ref:type` with its fields. */
export const node = (name: string, fields: Readonly<Record<string, unknown>> = {}): FlowNode => {
  const [ref = '', type = ref] = name.split(':');
  return { ref, type, ...fields };
};

/**
 * Connections, one per line: `a.out -> b.in` carries a value (`a.out -> b` under the name of the output), `a => b` gates. The first dot
 * ends the ref.
 */
export const wires = (lines: string): NonNullable<FlowGraph['connections']>[number][] =>
  lines
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      if (line.includes('=>')) {
        const [from = '', to = ''] = line.split('=>').map((part) => part.trim());
        return { from, to, control: true };
      }
      const [source = '', target = ''] = line.split('->').map((part) => part.trim());
      const [from = '', ...output] = source.split('.');
      const [to = '', ...input] = target.split('.');
      return { from, to, output: output.join('.'), ...(input.length > 0 ? { input: input.join('.') } : {}) };
    });

/** A graph that begins with an origin `in` of a rule that accepts everything. */
export const graph = (nodes: readonly FlowNode[], lines: string): FlowGraph => ({
  nodes: [node('in:origin', { rule: 'input' }), ...nodes],
  connections: wires(lines),
});

export const compiled = (
  flow: FlowGraph,
  slug = 'tested',
  flows: readonly FlowPlan[] = [],
  known: readonly CompiledRuleAsset[] = rules,
): FlowPlan => compileFlow({ id: `flow-${slug}`, slug, version: 1 }, flow, assetsOf(flows, known));

export const problemsOf = (flow: FlowGraph, flows: readonly FlowPlan[] = []): readonly FlowProblem[] =>
  checkFlow(flow, assetsOf(flows), { id: 'flow-tested', slug: 'tested' }).problems;

/** Evaluates a flow that does not reach out. */
export const solve = (
  flow: FlowGraph | FlowPlan,
  input: unknown = {},
  options: Partial<RunOptions> = {},
): FlowOutcome => {
  const outcome = begin(flow, input, options);
  if (outcome instanceof Promise) throw new Error('The flow did not answer at once.');
  return outcome;
};

export const begin = (
  flow: FlowGraph | FlowPlan,
  input: unknown = {},
  options: Partial<RunOptions> = {},
): FlowOutcome | Promise<FlowOutcome> =>
  evaluateFlow('root' in flow ? flow : compiled(flow), input as Record<string, unknown>, { now: NOW, ...options });

/** The answer, or the failure as `code: message`. */
export const answer = (outcome: FlowOutcome): unknown =>
  outcome.ok ? outcome.output : `${outcome.error.code}: ${outcome.error.message}`;
