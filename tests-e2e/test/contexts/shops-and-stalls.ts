import { randomUUID } from 'node:crypto';
import { callJson } from '../../src/histories/service-call';

/* Stalls belong to a shop and read its rate, from which a rule decides their fee: they are readers of their shop. */

const field = (key: string, type: string) => ({ key, name: key, type });

const FEE = {
  ...{ slug: 'stall-fee', name: 'Stall fee', _publish: true },
  context: { slug: 'stalls', version: 'latest' },
  requestSchema: [field('rate', 'number')],
  responseSchema: [field('fee', 'function')],
  conditions: [{ request: {}, response: { fee: { value: 'rate * 2' } } }],
};

const SHOPS = {
  ...{ name: 'Shops', identity_fact: 'shop_id' },
  schema: { base: [{ key: 'shop_id', type: 'string' }, { key: 'rate', type: 'number' }] }, // prettier-ignore
};

const STALLS = {
  ...{ name: 'Stalls', identity_fact: 'stall_id' },
  schema: {
    base: [
      { key: 'stall_id', type: 'string' },
      { key: 'shop_id', type: 'string' },
      { key: 'fee', type: 'number', output_only: true },
    ],
  },
};

/** Defines both contexts and the rule. */
export const defineShopsAndStalls = async (baseUrl: string, apiKey: string): Promise<void> => {
  const call = async (method: string, path: string, body: unknown): Promise<string> => {
    const answer = await callJson(`${baseUrl}/api/v1/admin/${path}`, { method, apiKey, body });
    if (answer?.status !== 200) throw new Error(`${path} was refused: ${JSON.stringify(answer)}`);
    return String(answer.body['id']);
  };
  const shops = await call('POST', 'contexts', SHOPS);
  const stalls = await call('POST', 'contexts', STALLS);
  await call('POST', `contexts/${stalls}/relationships`, {
    ...{ to_context_id: shops, relation_type: 'belongs_to', foreign_key_fact: 'shop_id', name: 'shop' },
  });
  const schema = { ...STALLS.schema, derived: [{ key: 'rate', expression: '$shop.rate' }] };
  await call('PUT', `contexts/${stalls}`, { schema });
  await call('POST', 'rules/import', { rule: { ...FEE, id: randomUUID() } });
};

/** State of a stall whose rule has run once, with a rate of 10. */
export const FEE_DECIDED_ONCE = {
  state: { rate: 10, fee: 20 },
  executions: { 'rule:stall-fee': { status: 'success', run_count: 1 } },
};
