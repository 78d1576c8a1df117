import { type RuleTable } from '@decision/contracts';
import { type CompiledRule, compileRule, evaluateRule } from '@decision/engine';
import {
  checkFlow,
  compileFlow,
  type CompiledRuleAsset,
  evaluateFlow,
  type FlowOutcome,
  type FlowPlan,
} from '@decision/flows';
import { type ZenDecision } from '@gorules/zen-engine';
import { BenchmarkError } from './benchmark-error';
import { data, type Input, inputs, pricingGraph, publishedPricing, tables, total } from './flow-of-tables';
import { measureInRounds, type RoundOptions, summarise } from './engine/rounds';

/*
 * A flow of three tables of 1,000 rows and one formula, in process: compared with hand-written code that calls the same three compiled rules, and
 * with the same graph in the fastest published engine. Then a loop over 1,000 to 100,000 items: the cost of one item, and the memory that the
 * process retains. Processor time, medians of alternating rounds.
 */

const options: RoundOptions = {
  rounds: Number(process.env['BENCH_ROUNDS'] ?? 9),
  warmUps: 3,
  milliseconds: 200,
};
const NOW = Date.UTC(2026, 0, 15);

const asset = (slug: string, table: RuleTable): CompiledRuleAsset => ({
  ...{ id: slug, slug, version: 1, rule: compileRule(table) },
  inputs: table.requestSchema,
  outputs: table.responseSchema,
});

const rules = [...Object.entries(tables), ['total', total] as const].map(([slug, table]) => asset(slug, table));
const ruleOf = (slug: string): CompiledRule => {
  const found = rules.find((rule) => rule.slug === slug);
  if (found?.rule === undefined) throw new BenchmarkError(`There is no rule "${slug}".`);
  return found.rule;
};

const pricing = compileFlow({ id: 'pricing', slug: 'pricing', version: 1 }, pricingGraph, assets());

function assets(flows: readonly FlowPlan[] = []) {
  return {
    findRule: (slug: string) => rules.find((rule) => rule.slug === slug),
    findFlow: (slug: string) => flows.find((flow) => flow.slug === slug),
  };
}

/** The same, hand-written over three compiled rules. */
const chained = (() => {
  const [price, discount, shipping] = [ruleOf('price'), ruleOf('discount'), ruleOf('shipping')];
  const numberOf = (rule: CompiledRule, input: Input, key: string): number => {
    const outcome = evaluateRule(rule, input, { now: NOW });
    return outcome.ok ? (outcome.output[key] as number) : Number.NaN; // tables with numeric outputs
  };
  return (input: Input): Readonly<Record<string, unknown>> => {
    const unit = numberOf(price, input, 'price');
    const off = numberOf(discount, { country: input['country'] ?? '', loyalty: input['loyalty'] ?? 0 }, 'discount');
    const cost = numberOf(shipping, { zone: input['zone'] ?? '', weight: input['weight'] ?? 0 }, 'shipping');
    return { total: unit * Number(input['quantity']) * (1 - off) + cost };
  };
})();

const flowed = (input: Input): Readonly<Record<string, unknown>> => {
  const outcome = evaluateFlow(pricing, input, { now: NOW }) as FlowOutcome; // it calls no other system
  if (!outcome.ok) throw new BenchmarkError(outcome.error.message);
  return outcome.output;
};

const checkAgreement = async (decision: ZenDecision): Promise<void> => {
  for (const input of inputs) {
    const own = Number(flowed(input)['total']);
    const chain = Number(chained(input)['total']);
    const other = Number(((await decision.evaluate(input)) as { result: { total: number } }).result.total);
    if (own !== chain || Math.abs(own - other) > 1e-6)
      throw new BenchmarkError(`Answers differ: the flow says ${own}, the chain ${chain}, the other engine ${other}.`);
  }
};

const processorTime = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** The best mode of the other engine: a batch of promises; includes its own threads. */
const measurePublished = async (decision: ZenDecision): Promise<number> => {
  const times: number[] = [];
  for (let round = -options.warmUps; round < options.rounds; round += 1) {
    const start = processorTime();
    let items = 0;
    while (processorTime() - start < options.milliseconds) {
      await Promise.all(inputs.map((input) => decision.evaluate(input)));
      items += inputs.length;
    }
    if (round >= 0) times.push((processorTime() - start) / items);
  }
  return summarise(times).median;
};

const LOOPS = [1_000, 10_000, 100_000];

/** A loop that prices each order, with a sum over all of them. */
const summing = compileFlow(
  { id: 'summing', slug: 'summing', version: 1 },
  {
    nodes: [
      { ref: 'in', type: 'origin', rule: 'orders' },
      {
        ...{ ref: 'each', type: 'foreach' },
        outputs: Object.entries(inputs[0] ?? {}).map(([key, value]) => ({ key, type: typeof value })),
      },
      { ref: 'price', type: 'flow', flow: 'pricing', version: 1 },
      { ref: 'all', type: 'aggregate', aggregations: { total: { operator: 'sum' } } },
      { ref: 'answer', type: 'result' },
    ],
    connections: [
      data('in', 'request_orders', 'each', 'list'),
      ...Object.keys(inputs[0] ?? {}).map((key) => data('each', key, 'price')),
      data('price', 'total', 'all'),
      data('all', 'total', 'answer'),
    ],
  },
  (() => {
    const orders: RuleTable = {
      requestSchema: [{ key: 'orders', type: 'list' }],
      responseSchema: [],
      conditions: [{}],
    };
    const { findRule, findFlow } = assets([pricing]);
    const own = asset('orders', orders);
    return { findFlow, findRule: (slug: string) => (slug === 'orders' ? own : findRule(slug)) };
  })(),
);

const measureLoop = (items: number): { readonly perItem: number; readonly kept: number } => {
  const orders = Array.from({ length: items }, (_, index) => inputs[index % inputs.length]);
  const times: number[] = [];
  let kept = 0;
  for (let round = -1; round < Math.min(5, options.rounds); round += 1) {
    const before = process.memoryUsage().heapUsed;
    const start = processorTime();
    const outcome = evaluateFlow(summing, { orders }, { now: NOW }) as FlowOutcome; // it calls no other system
    if (!outcome.ok) throw new BenchmarkError(outcome.error.message);
    if (round >= 0) times.push((processorTime() - start) / items);
    kept = Math.max(kept, process.memoryUsage().heapUsed - before);
  }
  return { perItem: summarise(times).median, kept };
};

/** A flow of 1,000 nodes and nearly 10,000 connections: each node reads the outputs of ten others. */
const measureChecking = (): number => {
  const refs = Array.from({ length: 998 }, (_, index) => `n${index}`);
  const graph = {
    nodes: [
      { ref: 'order', type: 'origin', rule: 'price' },
      ...refs.map((ref) => ({ ref, type: 'rule', rule: 'total' })),
      { ref: 'answer', type: 'result' },
    ],
    connections: [
      ...refs.flatMap((ref, index) =>
        Array.from({ length: 10 }, (_, back) =>
          index > back
            ? data(`n${index - back - 1}`, 'total', ref, ['price', 'discount', 'shipping'][back % 3])
            : data('order', 'price', ref),
        ),
      ),
      data('n997', 'total', 'answer'),
    ],
  };
  const start = processorTime();
  const { problems } = checkFlow(graph, assets());
  if (problems.length > 0) throw new BenchmarkError(problems[0]?.message ?? '');
  return processorTime() - start;
};

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const show = (value: number, digits = 2): string => value.toFixed(digits);

const main = async (): Promise<void> => {
  const decision = publishedPricing();
  await checkAgreement(decision);
  const times = measureInRounds(
    [
      { name: 'flow', items: inputs.length, run: () => inputs.forEach(flowed) },
      { name: 'chain', items: inputs.length, run: () => inputs.forEach(chained) },
    ],
    options,
  );
  const [flow, chain] = [times.get('flow')?.median ?? 0, times.get('chain')?.median ?? 0];
  const other = await measurePublished(decision);
  const micro = (time: number): string => `${show(time * 1_000)} us`;
  say(`flow of three tables and a formula: ${micro(flow)} an input`);
  say(`  chain written by hand: ${micro(chain)}, so the flow does ${show(chain / flow)} of its rate (aim 0.5)`);
  say(`  published engine: ${micro(other)}, so the flow does ${show(other / flow, 0)} times its rate (aim 30)`);
  say(`checking 1,000 nodes and 9,981 connections: ${show(measureChecking(), 0)} ms`);
  const loops = LOOPS.map((items) => ({ items, ...measureLoop(items) }));
  for (const { items, perItem, kept } of loops)
    say(`loop over ${items} items: ${micro(perItem)} an item, ${show(kept / 1_048_576, 1)} MiB at most`);
};

void main();
