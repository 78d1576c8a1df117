import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type FlowGraph, type RuleTable } from '@decision/contracts';
import { compileRule } from '@decision/engine';
import { checkFlow, compileFlow, type CompiledRuleAsset, evaluateFlow, type FlowPlan } from '../src/index';

const starter = resolve(__dirname, '../../../examples/starter');
const read = (folder: string): readonly Record<string, unknown>[] =>
  readdirSync(join(starter, folder))
    .filter((file) => file.endsWith('.json'))
    .map((file) => JSON.parse(readFileSync(join(starter, folder, file), 'utf8')) as Record<string, unknown>);

/** Rules without references to values of a workspace, which this package does not have. */
const rules = new Map<string, CompiledRuleAsset>(
  read('rules')
    .map(({ rule }) => rule as RuleTable & { readonly id: string; readonly slug: string })
    .filter((rule) => !JSON.stringify(rule).includes('"$ref"'))
    .map((rule) => [
      rule.slug,
      {
        ...{ id: rule.id, slug: rule.slug, version: 1, rule: compileRule(rule) },
        inputs: rule.requestSchema.map(({ key, type }) => ({ key, type })),
        outputs: rule.responseSchema.map(({ key, type }) => ({ key, type: type === 'function' ? 'any' : type })),
      },
    ]),
);
const assets = { findRule: (slug: string) => rules.get(slug), findFlow: (): FlowPlan | undefined => undefined };

interface Example {
  readonly flow: FlowGraph & { readonly id: string; readonly slug: string };
  readonly sampleRequest: Readonly<Record<string, unknown>>;
  readonly sampleResponse: unknown;
}

const examples = read('flows').map((example) => example as unknown as Example); // our own files

describe.each(examples.map((example) => [example.flow.slug, example] as const))('The example %s', (_slug, example) => {
  const { flow, sampleRequest, sampleResponse } = example;
  const planOf = () => compileFlow({ id: flow.id, slug: flow.slug, version: 1 }, flow, assets);

  it('has no problems', () => {
    expect(checkFlow(flow, assets).problems).toEqual([]);
  });

  it('answers its sample request with its sample response', async () => {
    const call = () => Promise.resolve({ status: 200, body: { score: 746 }, score: 746 });
    expect(await evaluateFlow(planOf(), sampleRequest, { now: 0, call })).toMatchObject({
      ok: true,
      output: sampleResponse,
    });
  });
});

it('leaves a loan to a person while the credit bureau cannot be asked', async () => {
  const loan = examples.find(({ flow }) => flow.slug === 'loan-decision');
  if (loan === undefined) throw new Error('The example is gone.');
  const plan = compileFlow({ id: loan.flow.id, slug: loan.flow.slug, version: 1 }, loan.flow, assets);
  const call = () => Promise.reject(new Error('The bureau does not answer.'));
  expect(await evaluateFlow(plan, loan.sampleRequest, { now: 0, call })).toMatchObject({
    ok: true,
    output: { decision: 'review', reason: 'The application is incomplete.' },
  });
});

it('refuses an order without items', () => {
  const order = examples.find(({ flow }) => flow.slug === 'order-pricing');
  if (order === undefined) throw new Error('The example is gone.');
  const plan = compileFlow({ id: order.flow.id, slug: order.flow.slug, version: 1 }, order.flow, assets);
  expect(evaluateFlow(plan, { ...order.sampleRequest, items: [] }, { now: 0 })).toMatchObject({
    ok: true,
    output: { accepted: false, reason: 'The order has no items.' },
  });
});
