import { type Answer, type ContextsApiUnderTest, startContextsApi } from './contexts-api-under-test';
import { DISCOUNT, ORDERS } from './operations/order-contexts';

let api: ContextsApiUnderTest;
let slug: string;

beforeAll(async () => {
  api = await startContextsApi({
    admission: {
      maxInFlightRequests: 3,
      maxInFlightBytes: 1_000_000,
      largeBodyThresholdBytes: 100_000,
      largeBodyMaxConcurrent: 1,
    },
  });
  slug = String((await api.call('POST', '/admin/contexts', { ...ORDERS, on_schema_mismatch: 'store' })).body['slug']);
  await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
});
afterAll(() => api.stop());

const order = (id: string, facts: object = {}) => ({ order_id: id, country: 'NL', total: 200, ...facts });
const submit = (id: string, facts: object = {}): Promise<Answer> =>
  api.call('POST', `/contexts/${slug}/${id}`, { country: 'NL', total: 200, ...facts });
const overloaded = {
  status: 429,
  body: { code: 'overloaded', retry_after_seconds: expect.any(Number) as unknown },
};

/** Holds each of the requests in flight, at a worker, while `meanwhile` runs; all of them succeed afterwards. */
const whileInFlight = async (requests: readonly (() => Promise<Answer>)[], meanwhile: () => Promise<void>) => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let there = 0;
  let allThere: () => void = () => undefined;
  const arrival = new Promise<void>((resolve) => (allThere = resolve));
  const { before } = api.workers;
  api.workers.before = () => {
    there += 1;
    if (there === requests.length) allThere();
    return held;
  };
  const answers = requests.map((send) => send());
  await arrival;
  try {
    await meanwhile();
  } finally {
    api.workers.before = before;
    release();
  }
  for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
};

it('refuses a request beyond those that may be in flight with 429 and Retry-After, and takes the next once one has ended', async () => {
  await whileInFlight(
    ['a', 'b', 'c'].map((id) => () => submit(id)),
    async () => {
      expect(await submit('d')).toMatchObject(overloaded);
      const response = await fetch(`${api.url}/api/v1/contexts/${slug}/a`, { headers: { 'x-api-key': api.adminKey } });
      expect({ status: response.status, wait: Number(response.headers.get('retry-after')) > 0 }).toEqual({
        status: 429,
        wait: true,
      });
      expect((await fetch(`${api.url}/health`)).status).toBe(200);
    },
  );
  expect((await submit('d')).status).toBe(200);
});

it('tells a caller whose key is refused so, whatever is in flight: it neither takes a place nor needs one', async () => {
  await whileInFlight(
    ['e', 'f', 'g'].map((id) => () => submit(id)),
    async () => {
      const refused = await api.call('POST', `/contexts/${slug}/h`, {}, `dsk_000000000000_${'A'.repeat(43)}`);
      expect(refused.status).toBe(401);
    },
  );
});

it('refuses a large body while as many as may be are worked on, as a list and as lines, and takes small ones', async () => {
  const text = 'x'.repeat(150_000);
  await whileInFlight([() => submit('large', { text })], async () => {
    expect(await submit('too-large', { text })).toMatchObject(overloaded);
    expect(await api.call('POST', `/contexts/batch/${slug}`, [order('a', { text })])).toMatchObject(overloaded);
    const lines = await fetch(`${api.url}/api/v1/contexts/batch/${slug}`, {
      method: 'POST',
      headers: { 'x-api-key': api.adminKey, 'content-type': 'application/x-ndjson' },
      body: `${JSON.stringify(order('a', { text }))}\n`,
    });
    expect(lines.status).toBe(429);
    const small = { status: 200 };
    expect(await api.call('GET', `/contexts/${slug}/a`)).toMatchObject(small);
  });
  expect((await submit('too-large', { text })).status).toBe(200);
});

it('refuses a body that would not fit into the memory of those in flight, and takes a smaller one', async () => {
  const facts = (parts: number) =>
    Object.fromEntries(Array.from({ length: parts }, (_, index) => [`part${index}`, 'x'.repeat(90_000)]));
  expect(await submit('heavy', facts(12))).toMatchObject(overloaded);
  expect((await submit('heavy', facts(1))).status).toBe(200);
});
