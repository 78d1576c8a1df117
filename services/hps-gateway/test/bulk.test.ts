import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '@decision/contracts';
import { echo, type GatewayUnderTest, send, startGateway } from './gateway-under-test';

const NDJSON = { 'content-type': 'application/x-ndjson' };

let gateway: GatewayUnderTest;
let bulk: string;

const start = async (changes: Parameters<typeof startGateway>[0] = {}): Promise<void> => {
  gateway = await startGateway(changes);
  bulk = `${gateway.url}/api/v1/bulk-solve/price`;
};

beforeAll(() => start());
beforeEach(() => gateway.reset());
afterAll(() => gateway.server.stop(1_000));

const restart = async (changes: Parameters<typeof startGateway>[0]): Promise<void> => {
  await gateway.server.stop(1_000);
  await start(changes);
};

const inputs = (count: number) => Array.from({ length: count }, (_, n) => ({ n }));

describe('a list', () => {
  it.each([0, 1, 2, 1_000, 25_000])('is answered in its order with %i inputs', async (count) => {
    expect((await send(bulk, inputs(count))).body).toEqual(inputs(count));
  });

  it.each(['/api/v1/solve/price', '/api/v1/solve/price/2', '/api/v1/bulk-solve/price/2'])(
    'is taken at %s',
    async (path) => {
      const answer = await send(`${gateway.url}${path}?explain=true`, [{ n: 1 }, 7, { n: 2 }]);
      expect(answer.body).toEqual([{ n: 1 }, { error: 'No object.', code: 'input_not_object' }, { n: 2 }]);
      expect(gateway.asked).toMatchObject([{ kind: 'solve-list', request: { slug: 'price', explain: 'brief' } }]);
      expect(gateway.asked[0]?.request.selector).toBe(path.endsWith('2') ? '2' : 'latest');
    },
  );

  it('keeps its order though later chunks are done sooner', async () => {
    let calls = 0;
    gateway.worker = async (kind, payload) => {
      await sleep(Math.max(0, 40 - 5 * calls++));
      return echo(kind, payload);
    };
    const many = Array.from({ length: 5_000 }, (_, n) => ({ n, padding: 'x'.repeat(200) }));
    expect((await send(bulk, many)).body).toEqual(many);
    expect(gateway.asked.length).toBeGreaterThan(5);
  });

  it('reaches no worker if its body is not sound', async () => {
    const answer = await send(bulk, `${JSON.stringify(inputs(50_000)).slice(0, -1)},nul]`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_json', index: 50_000, line: 1 } });
    expect(gateway.asked).toEqual([]);
  });

  it.each([
    ['{"n":1}', 400, 'invalid_request'],
    ['"text"', 400, 'invalid_request'],
    ['', 400, 'invalid_json'],
    ['[{"n":1},', 400, 'invalid_json'],
  ])('is what bulk-solve asks for: %j is answered %i', async (body, status, code) => {
    expect(await send(bulk, body)).toMatchObject({ status, body: { code, request_id: expect.any(String) } });
  });

  it('fails as a whole where a chunk fails, naming its inputs', async () => {
    gateway.worker = () => Promise.reject(new ServiceError('result_too_large', 'The results exceed a message.'));
    expect(await send(bulk, inputs(3))).toMatchObject({
      status: 413,
      body: { code: 'result_too_large', index: 0, last_index: 2 },
    });
  });

  it('answers 504 with what is known when the deadline passes', async () => {
    let calls = 0;
    gateway.worker = (kind, payload) => {
      calls += 1;
      return calls === 1
        ? echo(kind, payload)
        : Promise.reject(new ServiceError('deadline_exceeded', 'No worker answered in time.'));
    };
    const answer = await send(
      bulk,
      Array.from({ length: 1_000 }, () => ({ padding: 'x'.repeat(200) })),
    );
    expect(answer).toMatchObject({ status: 504, body: { code: 'deadline_exceeded' } });
    expect((answer.body as { solved_count: number }).solved_count).toBeGreaterThan(100);
  });
});

describe('lines', () => {
  const lines = (count: number) =>
    inputs(count)
      .map((input) => JSON.stringify(input))
      .join('\n');

  it('are answered by lines', async () => {
    const answer = await send(bulk, `${lines(3)}\n\n7\n`, NDJSON);
    expect(answer.headers.get('content-type')).toContain('application/x-ndjson');
    expect(answer.text).toBe('{"n":0}\n{"n":1}\n{"n":2}\n{"error":"No object.","code":"input_not_object"}\n');
  });

  it.each([
    ['lines', 'application/json', '[{"n":0},\n{"n":1}]'],
    ['lines', 'application/x-ndjson', '{"n":0}\n{"n":1}\n'],
    ['list', 'application/x-ndjson', '{"n":0}\n{"n":1}\n'],
    ['list', '*/*', '[{"n":0},\n{"n":1}]'],
  ])('%s are answered as %s if that is accepted', async (form, accept, text) => {
    const answer = await send(bulk, form === 'lines' ? lines(2) : inputs(2), {
      ...(form === 'lines' ? NDJSON : {}),
      accept,
    });
    expect(answer).toMatchObject({ status: 200, text });
  });

  it('are none in an empty body', async () => {
    expect(await send(bulk, '', NDJSON)).toMatchObject({ status: 200, text: '' });
  });

  it('stream: the first results come while the body is still being sent', async () => {
    const most = 1_000;
    let sent = 0;
    let text = '';
    const decoder = new TextDecoder();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        // The body continues until there is a result; without one before its end it would continue to the last line.
        if (sent === most || (text !== '' && sent >= 20)) controller.close();
        else {
          sent += 1;
          controller.enqueue(Buffer.from(`{"n":${sent},"padding":"${'x'.repeat(40_000)}"}\n`));
          await sleep(20);
        }
      },
    });
    const response = await fetch(bulk, {
      method: 'POST',
      body,
      headers: { 'x-api-key': 'solver', ...NDJSON },
      duplex: 'half',
    }); // the type lacks `duplex`
    for await (const part of response.body ?? []) {
      text += decoder.decode(part as Uint8Array, { stream: true }); // fetch yields bytes
    }
    expect(text.split('\n').filter(Boolean)).toHaveLength(sent);
    expect(sent).toBeLessThan(most);
  });

  it('fail in their slots if a chunk fails on the way, and the others are answered', async () => {
    let calls = 0;
    gateway.worker = (kind, payload) => {
      calls += 1;
      return calls === 2 ? Promise.reject(new ServiceError('deadline_exceeded', 'Too late.')) : echo(kind, payload);
    };
    const body = Array.from({ length: 2_000 }, (_, n) => JSON.stringify({ n, padding: 'x'.repeat(100) })).join('\n');
    const answer = await send(bulk, body, NDJSON);
    const results = answer.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { n?: number; code?: string });
    expect(results).toHaveLength(2_000);
    expect(results.filter(({ code }) => code === 'deadline_exceeded').length).toBeGreaterThan(0);
    expect(results.every(({ n, code }, index) => n === index || code === 'deadline_exceeded')).toBe(true);
  });

  it('have the status of the first chunk if that fails', async () => {
    gateway.worker = () => Promise.reject(new ServiceError('broker_unavailable', 'The broker is away.'));
    const answer = await send(bulk, lines(2), NDJSON);
    expect(answer).toMatchObject({ status: 503, body: { code: 'broker_unavailable' } });
    expect(answer.headers.get('retry-after')).toBe('1');
  });

  it('are cut off with a last line that says why if the body is refused on the way', async () => {
    await restart({ bulkMaxItems: 2_000 });
    const body = Array.from({ length: 2_001 }, (_, n) => JSON.stringify({ n, padding: 'x'.repeat(100) })).join('\n');
    const response = await fetch(bulk, { method: 'POST', body, headers: { 'x-api-key': 'solver', ...NDJSON } });
    if (response.status === 400) expect(await response.json()).toMatchObject({ code: 'too_many_items' });
    else await expect(response.text()).rejects.toThrow();
    await restart({});
  });

  it('are refused by solve, which takes one input or a list', async () => {
    const answer = await send(`${gateway.url}/api/v1/solve/price`, lines(2), NDJSON);
    expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
  });
});

describe('permissions', () => {
  it.each([
    [{ 'x-api-key': 'viewer' }, 403, 'forbidden'],
    [{ 'content-type': 'text/csv' }, 415, 'unsupported_media_type'],
  ])('%j is answered %i', async (headers, status, code) => {
    expect(await send(bulk, inputs(1), headers)).toMatchObject({ status, body: { code } });
  });

  it('is asked before the body is read', async () => {
    await restart({ openFails: new ServiceError('rule_not_found', 'No rule.') });
    expect(await send(bulk, 'x'.repeat(5_000_000))).toMatchObject({ status: 404 });
    await restart({});
  });
});
