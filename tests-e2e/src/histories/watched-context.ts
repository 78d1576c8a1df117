import { type Facts } from './history';

/** Facts that clients submit. */
export const FACTS = ['a', 'b', 'c'] as const;
/** Values count up from 1 and stay below this bound, so that a decision reveals both facts from which it was made. */
const MOST_VALUES = 1_000_000;

export const CONTEXT_SLUG = 'watched';
const RULE_SLUG = 'watched-pair';

/** All submitted facts are tracked: merged values are visible afterwards, even if they were overwritten. */
export const WATCHED_CONTEXT = {
  name: 'Watched',
  identity_fact: 'id',
  history_limit: 10_000,
  schema: {
    base: [
      { key: 'id', type: 'string' },
      ...FACTS.map((key) => ({ key, type: 'number', required: key !== 'c', track_history: true })),
      { key: 'pair', type: 'number', output_only: true },
    ],
  },
};

const field = (key: string, type: string) => ({ key, name: key, type });

export const watchedRule = (id: string) => ({
  ...{ id, slug: RULE_SLUG, name: RULE_SLUG, _publish: true },
  context: { slug: CONTEXT_SLUG, version: 'latest' },
  requestSchema: [field('a', 'number'), field('b', 'number')],
  responseSchema: [field('pair', 'function')],
  conditions: [{ request: {}, response: { pair: { value: `a * ${MOST_VALUES} + b` } } }],
});

/** Fact that the rule writes. */
export const decidePair = ({ a, b }: Facts): number | null =>
  a === undefined || b === undefined ? null : a * MOST_VALUES + b;

/** A flow of this context writes facts to watched instances: clients use it as another way to write. */
export const SENDER_SLUG = 'senders';
const ABOUT_SENDERS = 'about-senders';

export const SENDER_CONTEXT = {
  name: 'Senders',
  identity_fact: 'id',
  schema: {
    base: [
      { key: 'id', type: 'string' },
      { key: 'target', type: 'string' },
      ...FACTS.map((key) => ({ key, type: 'number' })),
      { key: 'written', type: 'object', output_only: true },
    ],
  },
};

export const senderRule = (id: string) => ({
  ...{ id, slug: ABOUT_SENDERS, name: ABOUT_SENDERS, _publish: true },
  requestSchema: [field('target', 'string'), ...FACTS.map((fact) => field(fact, 'number'))],
  ...{ responseSchema: [], conditions: [] },
});

/** Facts without a value are not written. The resulting state of the instance becomes the fact `written`. */
export const SENDER_FLOW = {
  ...{ slug: 'send', name: 'Send', context: { slug: SENDER_SLUG, version: 'latest' } },
  nodes: [
    { ref: 'in', type: 'origin', rule: ABOUT_SENDERS },
    { ref: 'write', type: 'entity', entitySlug: CONTEXT_SLUG, operation: 'update', retries: 3 },
    { ref: 'out', type: 'result' },
  ],
  connections: [
    { from: 'in', output: 'request_target', to: 'write', input: 'id' },
    ...FACTS.map((fact) => ({ from: 'in', output: `request_${fact}`, to: 'write', input: fact })),
    { from: 'write', output: 'state', to: 'out', input: 'written' },
  ],
};
