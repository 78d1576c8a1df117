import { waitUntil } from '@decision/local-stack';
import { type Answer, call, type FleetUnderTest } from '../fleet/fleet-under-test';

const PARCEL = { destination: { country: 'DE' }, weight: 2.4, express: false };
const USER = { email: 'ada@example.com', password: 'correct horse battery staple', role: 'developer' };

export interface MadeKey {
  readonly id: string;
  readonly key: string;
}

/** Samples of everything in a fleet's database, and queries about them. Steps throw if the fleet refuses them. */
export interface BackupContents {
  /** The key of a program, created first. */
  readonly solver: MadeKey;
  /** Execution of the rule for the first order. */
  readonly execution: string;
  makeKey(name: string): Promise<MadeKey>;
  revokeKey(key: MadeKey): Promise<void>;
  /** Publishes the next version of the rule `price`, which answers this price. */
  publishPrice(price: number): Promise<void>;
  /** The price answered by this version of the rule, or the status if there is none. */
  priceOf(version: number): Promise<number>;
  /** Status of a solve with this key. */
  solveWith(key: MadeKey): Promise<number>;
  /** Submits a complete order, by default of the customer whose orders are summed. Answers the id of its execution. */
  submitOrder(id: string, total: number, customer?: string): Promise<string>;
  /** Adds the country to the waiting order. */
  completeOrder(): Promise<Answer>;
  /** Number of decisions of an execution in the log; undefined if the log does not answer. */
  decisionsOf(execution: string): Promise<number | undefined>;
  isLogged(execution: string): Promise<void>;
  /** The fleet's answers about everything created first, by request. */
  answers(): Promise<Readonly<Record<string, Pick<Answer, 'status' | 'body'>>>>;
}

const expectStatus = ({ status, body }: Answer, expected: number): unknown => {
  if (status !== expected) throw new Error(`${status} in place of ${expected}: ${JSON.stringify(body)}`);
  return body;
};

/** Fills a fleet that contains the examples. */
export const fillForBackup = async (service: FleetUnderTest): Promise<BackupContents> => {
  let rule: string | undefined;

  const makeKey = async (name: string): Promise<MadeKey> => {
    const made = await service.call('POST', '/api/v1/admin/keys', { name, role: 'solver' });
    const { id, api_key: key } = expectStatus(made, 201) as { id: string; api_key: string }; // our own answer
    return { id, key };
  };

  const solve = (slug: string, body: object, key: string = service.apiKey): Promise<Answer> =>
    service.call('POST', `/api/v1/solve/${slug}`, body, { 'x-api-key': key });

  const publishPrice = async (price: number): Promise<void> => {
    const document = {
      ...{ ...(rule === undefined ? {} : { id: rule }), slug: 'price', name: 'Price', _publish: true },
      requestSchema: [{ key: 'weight', name: 'Weight', type: 'number' }],
      responseSchema: [{ key: 'price', name: 'Price', type: 'number' }],
      conditions: [{ request: {}, response: { price: { value: price } }, settings: {} }],
    };
    const published = await service.call('POST', '/api/v1/admin/rules/import', { rule: document });
    ({ id: rule } = expectStatus(published, 200) as { id: string }); // our own answer
  };

  const submitOrder = async (id: string, total: number, customer = 'c-1'): Promise<string> => {
    const order = { customer_id: customer, total, country: 'DE' };
    const answer = await service.call('POST', `/api/v1/contexts/orders/${id}`, order);
    const { cascaded } = expectStatus(answer, 200) as { cascaded: readonly { execution_id?: string }[] }; // our own answer
    const execution = cascaded[0]?.execution_id;
    if (execution === undefined) throw new Error(`The order ran no rule: ${JSON.stringify(answer.body)}`);
    return execution;
  };

  const decisionsOf = async (execution: string): Promise<number | undefined> => {
    // Called at its own address, since a collector that replaces another is not behind an ingress.
    const url = service.fleet.services.get('log-collector')?.url ?? '';
    const headers = { 'x-api-key': service.apiKey };
    const path = `${url}/api/v1/decisions/query?search=${execution}`;
    const found = await call(path, 'GET', undefined, headers).catch(() => undefined);
    return found?.status === 200 ? (found.body as { data: readonly unknown[] }).data.length : undefined; // our own answer
  };

  const isLogged = (execution: string): Promise<void> =>
    waitUntil(async () => (await decisionsOf(execution)) === 1, 'the decision is in the log');

  const solver = await makeKey('Solves before the backup');
  await publishPrice(1);
  expectStatus(await service.call('POST', '/api/v1/admin/users/create', USER), 201);
  expectStatus(await service.call('POST', '/api/v1/contexts/customers/c-1', {}), 200);
  const execution = await submitOrder('o-1', 35);
  expectStatus(await service.call('POST', '/api/v1/contexts/orders/o-2', { customer_id: 'c-1', total: 80 }), 200);
  await isLogged(execution);

  const questions: Readonly<Record<string, () => Promise<Answer>>> = {
    'a rule': () => solve('shipping-price', PARCEL),
    'with the key of a program': () => solve('shipping-price', PARCEL, solver.key),
    'a rule that reads managed values': () =>
      solve('ticket-routing', { ticket: { priority: 'urgent', channel: 'phone' } }),
    'a pinned version': () => solve('price/1', { weight: 1 }),
    'the managed values': () => service.call('GET', '/api/v1/values'),
    'a complete instance': () => service.call('GET', '/api/v1/contexts/orders/o-1'),
    'its history': () => service.call('GET', '/api/v1/contexts/orders/o-1/history'),
    'an instance that needs facts': () => service.call('GET', '/api/v1/contexts/orders/o-2'),
    'an aggregate': () => service.call('GET', '/api/v1/contexts/customers/c-1'),
    'the decision': () => service.call('GET', `/api/v1/decisions/query?search=${execution}`),
    people: () => service.call('GET', '/api/v1/admin/users/list'),
    'the audit of the rule': () => service.call('GET', `/api/v1/admin/audit?limit=100&id=${rule}`),
  };

  return {
    ...{ solver, execution, makeKey, publishPrice, submitOrder, decisionsOf, isLogged },
    revokeKey: async ({ id }) => void expectStatus(await service.call('DELETE', `/api/v1/admin/keys/${id}`), 200),
    priceOf: async (version) => {
      const { status, body } = await solve(`price/${version}`, { weight: 1 });
      return status === 200 ? (body as { price: number }).price : status; // our own answer
    },
    solveWith: async ({ key }) => (await solve('shipping-price', PARCEL, key)).status,
    completeOrder: () => service.call('POST', '/api/v1/contexts/orders/o-2', { country: 'DE' }),
    answers: async () => {
      const found: Record<string, Pick<Answer, 'status' | 'body'>> = {};
      for (const [name, ask] of Object.entries(questions)) {
        const { status, body } = await ask();
        found[name] = { status, body };
      }
      return found;
    },
  };
};
