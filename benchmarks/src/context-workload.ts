import { type RuleImport, type RuleTable } from '@decision/contracts';
import { BenchmarkError } from './benchmark-error';
import { type ServiceUnderTest } from './service-under-test';

const CALL_DEADLINE_MS = 300_000;

/** Sends JSON to a service itself, without the ingress, and answers the body. Throws a {@link BenchmarkError} if the answer is an error. */
export type Send = (method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown) => Promise<Record<string, unknown>>;

export const senderTo = (service: ServiceUnderTest, name: 'contexts-api' | 'hps-gateway' | 'objects-api'): Send =>
  senderWithKey(service.fleet.services.get(name)?.url ?? '', service.apiKey);

/** The same to a base URL. */
export const senderWithKey =
  (baseUrl: string, apiKey: string): Send =>
  async (method, path, body) => {
    const response = await fetch(`${baseUrl}/api/v1${path}`, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(CALL_DEADLINE_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new BenchmarkError(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>; // every answer here is an object
  };

/** A context with its slug and id. */
export interface MadeContext {
  readonly id: string;
  readonly slug: string;
}

const fact = (key: string, type: string, more: object = {}) => ({ key, type, ...more });

export const makeContext = async (send: Send, name: string, facts: object[], derived: object[] = []) =>
  (await send('POST', '/admin/contexts', {
    name,
    identity_fact: 'id',
    schema: { base: [fact('id', 'string'), ...facts], derived },
  })) as unknown as MadeContext; // what the API answers

/** Facts from which nothing is computed. */
export const makeReadings = (send: Send): Promise<MadeContext> =>
  makeContext(send, 'Readings', [
    ...['site', 'sensor', 'unit', 'state'].map((key) => fact(key, 'string')),
    ...['value', 'lower', 'upper'].map((key) => fact(key, 'number')),
    fact('checked', 'boolean'),
  ]);

/** About 180 bytes of facts for one instance. */
export const reading = (index: number, instances: number) => ({
  id: `reading-${String(index % instances).padStart(8, '0')}`,
  site: `site ${index % 97}`,
  sensor: `sensor ${index % 1_009}`,
  unit: 'degrees Celsius',
  state: index % 3 === 0 ? 'calibrated' : 'as delivered',
  value: index / 7,
  lower: -40,
  upper: 125 + (index % 10),
  checked: index % 2 === 0,
});

const rule = (
  slug: string,
  context: string,
  inputs: object[],
  outputs: object[],
  conditions: object[],
): RuleImport & RuleTable =>
  ({
    ...{ slug, name: slug, context: { slug: context, version: 'latest' } },
    ...{ requestSchema: inputs, responseSchema: outputs, conditions },
  }) as RuleImport & RuleTable; // checked by the import

const field = (key: string, type: string) => ({ key, name: key, type });

/** A discount of a tenth of the total. */
export const discountRule = (context: string): RuleImport & RuleTable =>
  rule(
    `${context}-discount`,
    context,
    [field('total', 'number')],
    [field('discount', 'function')],
    [{ request: { total: { op: 'greater than', args: [100] } }, response: { discount: { value: 'total / 10' } } }],
  );

/** A tier from the discount: it runs in the round after the rule that decides the discount. */
export const tierRule = (context: string): RuleImport & RuleTable =>
  rule(
    `${context}-tier`,
    context,
    [field('discount', 'number')],
    [field('tier', 'string')],
    [{ request: { discount: { op: 'greater than', args: [20] } }, response: { tier: { value: 'gold' } } }],
  );

/** Offers with a total, and the facts that rules decide. */
export const makeOffers = (send: Send, name: string): Promise<MadeContext> =>
  makeContext(send, name, [
    fact('total', 'number', { required: true }),
    fact('customer', 'string'),
    fact('discount', 'number', { output_only: true }),
    fact('tier', 'string', { output_only: true }),
  ]);

/** As offers, with a colour that must be one of a collection. */
export const makeColouredOffers = (send: Send, collection: string): Promise<MadeContext> =>
  makeContext(send, `Offers of ${collection}`, [
    fact('total', 'number', { required: true }),
    fact('colour', 'string', { values_only: true, values_collection: collection }),
    fact('discount', 'number', { output_only: true }),
  ]);
