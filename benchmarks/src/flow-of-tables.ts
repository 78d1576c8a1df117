import { type RuleTable } from '@decision/contracts';
import { type ZenDecision } from '@gorules/zen-engine';
import { publishedDecision } from './published-decision';

/* A flow of three tables of 1,000 rows and a formula, as documents of this service and of the fastest published engine. */

const INPUTS = 512;

export type Input = Readonly<Record<string, string | number>>;

/** 1,000 rows: one of 100 texts, and one of ten ranges of a number. */
const tableOf = (text: string, number: string, output: string, rest: RuleTable['requestSchema'] = []): RuleTable => ({
  requestSchema: [{ key: text, type: 'string' }, { key: number, type: 'number' }, ...rest],
  responseSchema: [{ key: output, type: 'number' }],
  conditions: Array.from({ length: 1_000 }, (_, row) => ({
    request: {
      [text]: { op: 'equals', args: [`${text}-${row % 100}`] },
      [number]: { op: 'between', args: [Math.floor(row / 100) * 10, Math.floor(row / 100) * 10 + 9] },
    },
    response: { [output]: { value: valueOf(output, row) } },
  })),
});

const valueOf = (output: string, row: number): number => (output === 'discount' ? (row % 40) / 100 : 1 + (row % 97));

export const field = (key: string, type: 'string' | 'number') => ({ key, type });
export const tables = {
  price: tableOf('product', 'quantity', 'price', [
    field('country', 'string'),
    field('loyalty', 'number'),
    field('zone', 'string'),
    field('weight', 'number'),
  ]),
  discount: tableOf('country', 'loyalty', 'discount'),
  shipping: tableOf('zone', 'weight', 'shipping'),
};
export const total: RuleTable = {
  requestSchema: ['price', 'quantity', 'discount', 'shipping'].map((key) => field(key, 'number')),
  responseSchema: [{ key: 'total', type: 'function' }],
  conditions: [{ response: { total: { value: 'price * quantity * (1 - discount) + shipping' } } }],
};

export const data = (from: string, output: string, to: string, input = output) => ({ from, output, to, input });
const passed = (to: string, ...fields: readonly string[]) =>
  fields.map((key) => data('order', `request_${key}`, to, key));

/** The flow `pricing`: its rules are the tables with their names, and `total`. */
export const pricingGraph = {
  nodes: [
    { ref: 'order', type: 'origin', rule: 'price' },
    { ref: 'discount', type: 'rule', rule: 'discount' },
    { ref: 'shipping', type: 'rule', rule: 'shipping' },
    { ref: 'total', type: 'rule', rule: 'total' },
    { ref: 'answer', type: 'result' },
  ],
  connections: [
    ...passed('discount', 'country', 'loyalty'),
    ...passed('shipping', 'zone', 'weight'),
    ...passed('total', 'quantity'),
    data('order', 'price', 'total'),
    data('discount', 'discount', 'total'),
    data('shipping', 'shipping', 'total'),
    data('total', 'total', 'answer'),
  ],
};

export const inputs: readonly Input[] = Array.from({ length: INPUTS }, (_, index) => {
  const at = index * 7_919;
  return {
    ...{ product: `product-${at % 100}`, quantity: (at * 3) % 100, country: `country-${(at * 7) % 100}` },
    ...{ loyalty: (at * 11) % 100, zone: `zone-${(at * 13) % 100}`, weight: (at * 17) % 100 },
  };
});

/** The same graph as documents of the other engine. */
export const publishedPricing = (): ZenDecision => {
  const nodes = Object.entries(tables).map(([slug, { requestSchema, conditions }]) => ({
    ...{ id: slug, name: slug, type: 'decisionTableNode' },
    content: {
      hitPolicy: 'first',
      inputs: requestSchema.slice(0, 2).map(({ key }) => ({ id: key, name: key, field: key })),
      outputs: [{ id: slug, name: slug, field: slug }],
      rules: conditions.map(({ request = {}, response = {} }, row) => ({
        _id: String(row),
        ...Object.fromEntries(
          Object.entries(request).map(([key, { args = [] }]) => [
            key,
            args.length === 1 ? JSON.stringify(args[0]) : `[${args.join('..')}]`,
          ]),
        ),
        [slug]: String(response[slug]?.value),
      })),
    },
  }));
  const slugs = Object.keys(tables);
  return publishedDecision({
    nodes: [
      { id: 'in', name: 'in', type: 'inputNode' },
      ...nodes,
      {
        ...{ id: 'total', name: 'total', type: 'expressionNode' },
        content: { expressions: [{ id: 't', key: 'total', value: 'price * quantity * (1 - discount) + shipping' }] },
      },
      { id: 'out', name: 'out', type: 'outputNode' },
    ],
    edges: [
      ...slugs.flatMap((slug) => [
        { id: `to-${slug}`, sourceId: 'in', targetId: slug, type: 'edge' },
        { id: `from-${slug}`, sourceId: slug, targetId: 'total', type: 'edge' },
      ]),
      { id: 'input', sourceId: 'in', targetId: 'total', type: 'edge' },
      { id: 'answer', sourceId: 'total', targetId: 'out', type: 'edge' },
    ],
  });
};
