import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { waitUntil } from '@decision/local-stack';
import { type ContextsApiUnderTest, startContextsApi } from '../contexts-api-under-test';
import { DISCOUNT, ORDERS } from '../operations/order-contexts';

let api: ContextsApiUnderTest;
let slug: string;

beforeAll(async () => {
  api = await startContextsApi({ chunkSize: 10, lineMaxBytes: 100_000 });
});
afterAll(() => api.stop());
beforeEach(async () => {
  const { body } = await api.call('POST', '/admin/contexts', ORDERS);
  slug = String(body['slug']);
  api.workers.messages.length = 0;
});

const LINES = 'application/x-ndjson';
type Entry = Record<string, unknown>;
const order = (order_id: string, facts: object = {}) => ({ order_id, country: 'NL', ...facts });
const linesOf = (records: readonly unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const urlOf = (context: string, query = '') => `${api.url}/api/v1/contexts/batch/${context}${query}`;

const send = async (body: string | Buffer, { query = '', accept = '*/*', context = slug } = {}) => {
  const response = await fetch(urlOf(context, query), {
    method: 'POST',
    headers: { 'x-api-key': api.adminKey, 'content-type': LINES, accept },
    body: new Uint8Array(Buffer.from(body)),
    signal: AbortSignal.timeout(60_000),
  });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
};
const sendForAnswer = async (body: string | Buffer, options: Parameters<typeof send>[1] = {}) => {
  const { status, text } = await send(body, options);
  return { status, body: JSON.parse(text) as Entry };
};
const sendForLines = async (body: string, options: Parameters<typeof send>[1] = {}) => {
  const { status, type, text } = await send(body, { ...options, accept: LINES });
  const entries = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Entry);
  return { status, type, entries };
};

/** A batch whose body the test sends in parts. */
const openBatch = (context = slug) => {
  const sending = request(urlOf(context), {
    method: 'POST',
    headers: { 'x-api-key': api.adminKey, 'content-type': LINES, accept: LINES },
  });
  sending.on('error', () => undefined);
  return sending;
};
const isThere = async (id: string): Promise<boolean> =>
  (await api.call('GET', `/contexts/${slug}/${id}`)).status === 200;

it('C95: answers as a list does: positions, counts, one entry for each instance', async () => {
  await api.bindRule(slug, `${slug}-discount`, DISCOUNT);
  const records = Array.from({ length: 25 }, (_, index) => order(`o-${index % 20}`, { total: 200 + index }));
  const { status, body } = await sendForAnswer(linesOf(records));
  expect(status).toBe(200);
  expect(body).toMatchObject({ context: slug, accepted: 25, rejected: 0, executed: 25, rejections: [] });
  const results = body['results'] as Entry[];
  expect(results.map(({ instance_id: id }) => id)).toEqual(Array.from({ length: 20 }, (_, index) => `o-${index}`));
  expect(results[3]).toMatchObject({ positions: [3, 23], is_new: true, state: { total: 223, discount: 22.3 } });
  expect(results[3]?.['executed']).toHaveLength(2);
  expect(api.workers.messages.reduce((sum, count) => sum + count, 0)).toBe(25);
});

it('C92: records of one instance in several chunks merge in their order', async () => {
  const records = Array.from({ length: 95 }, (_, index) =>
    order(index % 2 === 0 ? 'a' : `o-${index}`, { total: index }),
  );
  const { body } = await sendForAnswer(linesOf(records), { query: '?include=state,positions' });
  const [first] = body['results'] as Entry[];
  expect(first).toMatchObject({ instance_id: 'a', state: { total: 94 } });
  expect(first?.['positions']).toEqual(Array.from({ length: 48 }, (_, index) => index * 2));
  const { body: history } = await api.call('GET', `/contexts/${slug}/a/history?field=total`);
  expect(JSON.stringify(history)).toContain('94');
});

it('C95: streams results and rejections as lines, and at last the totals', async () => {
  const records = [...Array.from({ length: 12 }, (_, index) => order(`o-${index}`)), { total: 1 }, order('o-0')];
  const { status, type, entries } = await sendForLines(linesOf(records), { query: '?include=positions' });
  expect({ status, type }).toEqual({ status: 200, type: 'application/x-ndjson; charset=utf-8' });
  expect(entries).toHaveLength(15);
  expect(entries[0]).toEqual({ instance_id: 'o-0', positions: [0] });
  expect(entries.slice(10, 14)).toEqual([
    { instance_id: 'o-10', positions: [10] },
    { instance_id: 'o-11', positions: [11] },
    { instance_id: 'o-0', positions: [13] },
    { position: 12, error: expect.stringContaining('order_id') as unknown },
  ]);
  expect(entries[14]).toMatchObject({ context: slug, accepted: 13, rejected: 1, executed: 0, cascaded: [] });
  expect(entries[14]).not.toHaveProperty('results');
});

it('C90: one bad record in 1,000, of every kind, is rejected alone', async () => {
  const lines = Array.from({ length: 1_000 }, (_, index) => Buffer.from(`${JSON.stringify(order(`o-${index}`))}\n`));
  lines[100] = Buffer.from('{"order_id": "half\n');
  lines[200] = Buffer.concat([Buffer.from('{"order_id": "'), Buffer.from([0xff, 0xfe]), Buffer.from('"}\n')]);
  lines[300] = Buffer.from('["a list"]\n');
  lines[400] = Buffer.from(`{"order_id": "x", "total": 1e400}\n`);
  const { status, body } = await sendForAnswer(Buffer.concat(lines), { query: '?include=status' });
  expect(status).toBe(200);
  expect(body).toMatchObject({ accepted: 996, rejected: 4 });
  expect(body['rejections']).toMatchObject([
    { position: 100, error: expect.stringContaining('not JSON') as unknown },
    { position: 200, error: expect.stringContaining('not UTF-8') as unknown },
    { position: 300, error: expect.stringContaining('object of facts') as unknown },
    { position: 400, error: expect.stringContaining('cannot be held exactly') as unknown },
  ]);
  expect(body['results']).toHaveLength(996);
});

it('C90: each of 20,000 zeros is answered with its rejection, as a list and as lines', async () => {
  const zeros = Array.from({ length: 20_000 }, () => 0);
  const answers = [
    (await api.call('POST', `/contexts/batch/${slug}`, zeros)).body,
    (await sendForAnswer(linesOf(zeros))).body,
  ];
  for (const body of answers) {
    expect(body).toMatchObject({ accepted: 0, rejected: 20_000, results: [] });
    expect(body).not.toHaveProperty('rejections_omitted');
    expect((body['rejections'] as { position: number }[]).map(({ position }) => position)).toEqual(
      zeros.map((_, at) => at),
    );
  }
});

it('C90: rejections beyond 8 MiB are counted in one answer, and listed in lines', async () => {
  const zeros = Array.from({ length: 120_000 }, () => 0);
  const lines = linesOf(zeros);
  for (const body of [
    (await api.call('POST', `/contexts/batch/${slug}`, zeros)).body,
    (await sendForAnswer(lines)).body,
  ]) {
    const { length } = body['rejections'] as unknown[];
    expect(length).toBeGreaterThan(80_000);
    expect(body).toMatchObject({ rejected: 120_000, rejections_omitted: 120_000 - length });
  }
  const { entries } = await sendForLines(lines);
  expect(entries.slice(0, -1).map((entry) => entry['position'])).toEqual(zeros.map((_, at) => at));
});

it('C90: a body that ends in half a line is merged, but for that line', async () => {
  const text = linesOf([order('a'), order('b'), order('c')]).slice(0, -5);
  expect((await sendForAnswer(text)).body).toMatchObject({ accepted: 2, rejected: 1, rejections: [{ position: 2 }] });
  expect(await isThere('c')).toBe(false);
});

it('C95: merges what has arrived while the rest has not', async () => {
  const sending = openBatch();
  const answered = new Promise<string>((resolve, reject) => {
    sending.on('response', (response) => {
      let text = '';
      response.on('data', (piece: Buffer) => (text += piece.toString())).on('end', () => resolve(text));
    });
    sending.on('error', reject);
  });
  sending.write(linesOf(Array.from({ length: 11 }, (_, index) => order(`o-${index}`))));
  await waitUntil(() => isThere('o-9'));
  expect(await isThere('o-10')).toBe(false);
  sending.end();
  expect((await answered).trimEnd().split('\n')).toHaveLength(12);
  expect(await isThere('o-10')).toBe(true);
});

it('a client that disconnects has merged whole chunks, and no part of an incomplete line', async () => {
  const sending = openBatch();
  sending.write(linesOf(Array.from({ length: 10 }, (_, index) => order(`o-${index}`))) + '{"order_id":"half"}');
  await waitUntil(() => isThere('o-9'));
  sending.destroy();
  expect((await sendForAnswer(linesOf([order('after')]))).status).toBe(200);
  expect(await isThere('half')).toBe(false);
});

it('C96: a line above the limit is answered 413 with its position and what is committed', async () => {
  const records = [
    ...Array.from({ length: 25 }, (_, index) => order(`o-${index}`)),
    order('large', { text: 'x'.repeat(100_000) }),
  ];
  const { status, body } = await sendForAnswer(linesOf(records));
  expect({ status, code: body['code'], index: body['index'] }).toEqual({
    status: 413,
    code: 'payload_too_large',
    index: 25,
  });
  const ids = body['committed_instance_ids'] as string[];
  expect(body['committed_count']).toBe(ids.length);
  for (let index = 0; index < 26; index += 1) expect(await isThere(`o-${index}`)).toBe(ids.includes(`o-${index}`));
});

it('C96: a failure after the first lines is the last line, with what they did not tell', async () => {
  const sending = openBatch();
  let text = '';
  const isWhole = new Promise<boolean>((resolve) => {
    sending.on('response', (response) => {
      response.on('data', (piece: Buffer) => (text += piece.toString()));
      response.on('error', () => undefined).on('close', () => resolve(response.complete));
    });
  });
  sending.write(linesOf(Array.from({ length: 10 }, (_, index) => order(`o-${index}`))));
  await waitUntil(() => text.split('\n').length > 10);
  sending.write('x'.repeat(100_001));
  expect(await isWhole).toBe(false);
  const entries = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Entry);
  expect(entries).toHaveLength(11);
  expect(entries[10]).toMatchObject({ code: 'payload_too_large', committed_count: 0, committed_instance_ids: [] });
  sending.destroy();
});

it('C95: holds no more of a body than its chunks: the client is held back while they are worked on', async () => {
  const { body: storing } = await api.call('POST', '/admin/contexts', { ...ORDERS, on_schema_mismatch: 'store' });
  const context = String(storing['slug']);
  await api.bindRule(context, `${context}-discount`, DISCOUNT);
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  api.workers.before = () => gate;
  const text = 'x'.repeat(40_000);
  async function* records(): AsyncGenerator<Uint8Array> {
    for (let part = 0; part < 100; part += 1) {
      await Promise.resolve();
      yield Buffer.from(
        linesOf(Array.from({ length: 10 }, (_, index) => order(`o-${part}-${index}`, { total: 1, text }))),
      );
    }
  }
  // Counts what the service has read: how much the sockets hold depends on the machine.
  let socket: Socket | undefined;
  const onRequest = (message: unknown): void => {
    ({ socket } = message as { socket: Socket });
  };
  subscribe('http.server.request.start', onRequest);
  const answered = fetch(urlOf(context, '?include=is_new'), {
    method: 'POST',
    headers: { 'x-api-key': api.adminKey, 'content-type': LINES, accept: LINES },
    body: ReadableStream.from(records()),
    duplex: 'half',
    signal: AbortSignal.timeout(100_000),
  });
  try {
    await waitUntil(() => socket !== undefined, 'the request arrives');
    for (let before = -1; before !== socket?.bytesRead;) {
      before = socket?.bytesRead ?? 0;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
    // A fraction of the 40 MB.
    expect(socket.bytesRead).toBeLessThan(4_000_000);
  } finally {
    unsubscribe('http.server.request.start', onRequest);
    open();
    api.workers.before = () => Promise.resolve();
  }
  const entries = (await (await answered).text()).trimEnd().split('\n');
  expect(entries).toHaveLength(1_001);
  expect(JSON.parse(entries.at(-1) ?? '')).toMatchObject({ accepted: 1_000, executed: 1_000 });
}, 360_000);

it.each(['application/x-ndjson; charset=utf-16', 'text/plain'])('refuses the content type %s', async (type) => {
  const response = await fetch(urlOf(slug), {
    method: 'POST',
    headers: { 'x-api-key': api.adminKey, 'content-type': type },
    body: '{}\n',
  });
  expect(response.status).toBe(415);
  await response.text();
});

it('an empty body does nothing; unknown fields are refused before it is read', async () => {
  expect((await sendForAnswer('')).body).toMatchObject({ accepted: 0, results: [] });
  expect((await sendForLines('\n')).entries).toMatchObject([{ accepted: 0, rejected: 0 }]);
  expect(await sendForAnswer(linesOf([order('a')]), { query: '?include=colour' })).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', valid: expect.arrayContaining(['positions']) as unknown },
  });
  expect(await isThere('a')).toBe(false);
});
