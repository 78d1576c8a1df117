import { createHmac } from 'node:crypto';
import { createServer } from 'node:net';
import { type SinkRecord } from '../src/reading/sink-record';
import { type TargetSettings } from '../src/reading/sink-settings';
import { createIndexTarget } from '../src/targets/bulk-index-target';
import { createHttpTarget } from '../src/targets/http-target';
import { createRowsTarget } from '../src/targets/json-rows-target';
import { createOtlpTarget } from '../src/targets/otlp-target';
import { type SendOutcome, type Target } from '../src/targets/target';
import { decisionOf, manyRecords, sinkRecordOf } from './records';
import { type SinkServer, startSinkServer } from './sink-server';

let server: SinkServer;
const targets: Target[] = [];
beforeEach(async () => {
  server = await startSinkServer();
});
afterEach(async () => {
  for (const target of targets.splice(0)) await target.stop();
  await server.stop();
});

const TIMEOUT_MS = 2_000;
type Kind = 'http' | 'json-rows' | 'bulk-index' | 'otlp';
const open = (kind: Kind, more: object = {}, timeoutMs = TIMEOUT_MS, at = server.url): Target => {
  const web = { url: new URL(at), headers: { 'x-key': 'hunter2' }, ...more };
  const make = (): Target => {
    switch (kind) {
      case 'http':
        return createHttpTarget({ kind, signingKey: undefined, ...web }, timeoutMs);
      case 'json-rows':
        return createRowsTarget({ kind, table: 'logs.decisions', ...web }, timeoutMs);
      case 'bulk-index':
        return createIndexTarget({ kind, index: 'decisions-{date}', action: 'create', ...web }, timeoutMs);
      case 'otlp':
        return createOtlpTarget({ kind, resource: { 'service.name': 'test' }, ...web }, timeoutMs);
    }
  };
  const target = make();
  targets.push(target);
  return target;
};
const send = (target: Target, records: readonly SinkRecord[] = manyRecords(3)): Promise<SendOutcome> =>
  target.send(records, new AbortController().signal);
const answering = (status: number, body: string | object = '', headers: Record<string, string> = {}) => {
  server.answer = (_, response) =>
    void response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
};
const itemsOf = (...statuses: number[]) => ({
  errors: false,
  items: statuses.map((status, at) => ({
    create: { _id: `id-of-m${at}.0`, status, ...(status >= 300 ? { error: { type: 'mapper' } } : {}) },
  })),
});

const success: Readonly<Record<Kind, () => void>> = {
  http: () => answering(202, 'thanks'),
  'json-rows': () => answering(200),
  'bulk-index': () => answering(200, itemsOf(201, 201, 201)),
  otlp: () => answering(200, {}),
};

describe.each(Object.keys(success) as Kind[])('a sink of kind %s', (kind) => {
  it('receives records with its headers, and accepts them', async () => {
    success[kind]();
    expect(await send(open(kind))).toEqual({ kind: 'accepted' });
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.headers).toMatchObject({ 'x-key': 'hunter2' });
  });

  it.each([
    [400, 'refused'],
    [413, 'refused'],
    [422, 'refused'],
    [302, 'unavailable'],
    [401, 'unavailable'],
    [404, 'unavailable'],
    [429, 'unavailable'],
    [500, 'unavailable'],
    [503, 'unavailable'],
  ])('that answers %d counts as %s, and its secrets are not revealed', async (status, outcome) => {
    answering(status, 'why not', { location: 'http://127.0.0.1:1/', 'retry-after': '7' });
    const result = await send(open(kind));
    expect(result).toMatchObject({ kind: outcome, reason: `${server.url} answered ${status}`, detail: 'why not' });
    if (outcome === 'unavailable') expect(result).toMatchObject({ retryAfterMs: 7_000 });
    expect(JSON.stringify(result)).not.toContain('hunter2');
    expect(server.requests).toHaveLength(1);
  });

  it('that hangs before or within its answer is unavailable after the timeout', async () => {
    server.answer = () => undefined;
    expect(await send(open(kind, {}, 200))).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringMatching(/did not answer within 200 ms/),
    });
    server.answer = (_, response) => void response.writeHead(200).write('{');
    expect(await send(open(kind, {}, 200))).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringMatching(/did not answer within 200 ms/),
    });
  });

  it('that breaks off or does not listen is unavailable', async () => {
    server.answer = (_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('x');
      setTimeout(() => response.destroy(), 20);
    };
    expect(await send(open(kind))).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringMatching(/could not be asked/),
    });
    const nobody = createServer();
    await new Promise<void>((resolve) => nobody.listen(0, '127.0.0.1', resolve));
    const { port } = nobody.address() as { port: number };
    await new Promise((resolve) => nobody.close(resolve));
    expect(await send(open(kind, {}, TIMEOUT_MS, `http://127.0.0.1:${port}`))).toMatchObject({
      kind: 'unavailable',
      reason: `http://127.0.0.1:${port} could not be asked (ECONNREFUSED)`,
    });
  });

  it('that answers endlessly is unavailable', async () => {
    server.answer = (_, response) => {
      const piece = 'x'.repeat(1_048_576);
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
        if (!response.destroyed) response.once('drain', more);
      };
      response.on('error', () => undefined);
      more();
    };
    expect(await send(open(kind, {}, 20_000))).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringMatching(/more than 16777216 bytes/),
    });
  });

  it('that is aborted when the service stops returns at once', async () => {
    server.answer = () => undefined;
    const ending = new AbortController();
    setTimeout(() => ending.abort(), 50);
    const begunAt = performance.now();
    expect(await open(kind, {}, 20_000).send(manyRecords(1), ending.signal)).toMatchObject({ kind: 'unavailable' });
    expect(performance.now() - begunAt).toBeLessThan(5_000);
  });
});

/** Misleading answers: success as the status, failure in the body. */
it.each([
  ['http', { error: 'quota' }, 'unavailable'],
  ['http', { errors: [{ row: 1 }] }, 'unavailable'],
  ['http', { error: null, errors: [] }, 'accepted'],
  ['http', '<html>ok</html>', 'accepted'],
  ['json-rows', 'Code: 252. DB::Exception: Too many parts', 'unavailable'],
  ['json-rows', 'Code: 27. DB::Exception: Cannot parse input', 'refused'],
  ['json-rows', '<html>Sign in</html>', 'unavailable'],
  ['bulk-index', { errors: false, items: [] }, 'unavailable'],
  ['bulk-index', { errors: false }, 'unavailable'],
  ['bulk-index', '<html>Sign in</html>', 'unavailable'],
  ['bulk-index', itemsOf(201, 201), 'unavailable'],
  [
    'bulk-index',
    { items: [{ create: { _id: 'x', status: 201 } }, ...itemsOf(0, 201, 201).items.slice(1)] },
    'unavailable',
  ],
  ['bulk-index', { items: [null, 7, { create: { status: 'fine' } }] }, 'unavailable'],
  ['otlp', '<html>Sign in</html>', 'unavailable'],
  ['otlp', '', 'accepted'],
  ['otlp', { partialSuccess: { rejectedLogRecords: '0', errorMessage: 'slow down' } }, 'accepted'],
] as const)('a sink of kind %s that answers 200 with %j counts as %s', async (kind, body, outcome) => {
  answering(200, body);
  expect(await send(open(kind))).toMatchObject({ kind: outcome });
});

describe('http', () => {
  it('receives JSON lines with a signature of name, time and body; the same batch has the same name', async () => {
    const target = open('http', { signingKey: 'k'.repeat(32) });
    await send(target);
    await send(target);
    await send(target, manyRecords(2));
    const [first, second, third] = server.requests;
    expect(first?.body.split('\n').map((line) => line && (JSON.parse(line) as { id: string }).id)).toEqual([
      ...['id-of-m0.0', 'id-of-m1.0', 'id-of-m2.0', ''],
    ]);
    expect(first?.headers['content-type']).toBe('application/x-ndjson');
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = first?.headers ?? {};
    const expected = createHmac('sha256', 'k'.repeat(32)).update([id, at, first?.body].join('.')).digest('base64');
    expect(signature).toBe(`v1,${expected}`);
    expect(second?.headers['webhook-id']).toBe(id);
    expect(third?.headers['webhook-id']).not.toBe(id);
  });

  it('receives no signature without a key', async () => {
    await send(open('http'));
    expect(server.requests[0]?.headers).not.toHaveProperty('webhook-signature');
  });
});

describe('json-rows', () => {
  it('receives one INSERT of rows whose request and response are texts, under a name derived from them', async () => {
    const target = open('json-rows', { url: new URL(`${server.url}/?database=x`) });
    await send(target);
    await send(target);
    const [first, second] = server.requests.map(({ path }) => new URL(path, server.url).searchParams);
    expect(first?.get('query')).toBe('INSERT INTO `logs`.`decisions` FORMAT JSONEachRow');
    expect(first?.get('database')).toBe('x');
    expect(first?.get('insert_deduplication_token')).toBe(second?.get('insert_deduplication_token'));
    const [row] = server.requests[0]?.body.split('\n') ?? [];
    expect(JSON.parse(row ?? '')).toMatchObject({ id: 'id-of-m0.0', request: '{"at":0}', response: '{}', status: 200 });
  });

  it('reports a failure in a header', async () => {
    answering(200, '', { 'x-anything-exception-code': '241' });
    expect(await send(open('json-rows'))).toMatchObject({ kind: 'unavailable' });
  });

  it('blames rows if the server cannot parse a value, whatever its status', async () => {
    answering(500, 'Code: 26. DB::Exception: Cannot parse quoted string');
    expect(await send(open('json-rows'))).toMatchObject({ kind: 'refused', detail: expect.stringMatching(/Code: 26/) });
    answering(500, 'Code: 241. DB::Exception: Memory limit exceeded');
    expect(await send(open('json-rows'))).toMatchObject({ kind: 'unavailable' });
  });
});

describe('bulk-index', () => {
  it('receives an action with its id before each record, in the index of its day', async () => {
    answering(200, itemsOf(201));
    await send(open('bulk-index'), manyRecords(1));
    const [action, record, end] = server.requests[0]?.body.split('\n') ?? [];
    expect(JSON.parse(action ?? '')).toEqual({ create: { _index: 'decisions-2026.01.15', _id: 'id-of-m0.0' } });
    expect(JSON.parse(record ?? '')).toMatchObject({ id: 'id-of-m0.0', request: { at: 0 } });
    expect(end).toBe('');
  });

  it('reports the outcome of each record, even if the answer says that there were no errors', async () => {
    answering(200, itemsOf(201, 400, 429, 409, 503, 403, 404));
    expect(await send(open('bulk-index'), manyRecords(7))).toMatchObject({
      kind: 'partly',
      refused: [{ at: 1, reason: `${server.url} answered 400 for it: {"type":"mapper"}` }],
      again: [2, 4, 5, 6],
    });
  });
});

describe('otlp', () => {
  it('receives log records with time, severity, trace and attributes', async () => {
    answering(200, {});
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const item = { status: 'error', code: 'evaluation_failed', request: { a: 1 } };
    await send(open('otlp'), [sinkRecordOf(decisionOf({ trace_id: trace }, item))]);
    const { resourceLogs } = JSON.parse(server.requests[0]?.body ?? '') as TargetPayload;
    expect(resourceLogs[0]?.resource.attributes).toEqual([{ key: 'service.name', value: { stringValue: 'test' } }]);
    const [log] = resourceLogs[0]?.scopeLogs[0]?.logRecords ?? [];
    expect(log).toMatchObject({
      ...{ timeUnixNano: '1768469400250000000', observedTimeUnixNano: '1768469401000000000', traceId: trace },
      body: { stringValue: '{"request":{"a":1},"response":{}}' },
    });
    expect(['WARN', 'ERROR']).toContain(log?.['severityText']);
    expect(log?.['attributes']).toEqual(
      expect.arrayContaining([
        { key: 'log.record.uid', value: { stringValue: 'id-of-gateway-1:1.0' } },
        { key: 'decision.duration_ms', value: { doubleValue: 1.5 } },
        { key: 'decision.of_list', value: { boolValue: false } },
        { key: 'decision.item', value: { intValue: '0' } },
        { key: 'decision.matched', value: { arrayValue: { values: [{ intValue: '0' }, { intValue: '2' }] } } },
      ]),
    );
  });

  it('counts as refusing if the receiver accepts none, so that the records at fault are found', async () => {
    answering(200, { partialSuccess: { rejectedLogRecords: 3, errorMessage: 'too long' } });
    expect(await send(open('otlp'))).toMatchObject({ kind: 'refused', detail: expect.stringMatching(/too long/) });
  });

  it('has all records given up if the receiver refuses some and does not say which', async () => {
    answering(200, { partialSuccess: { rejectedLogRecords: '1', errorMessage: 'too long' } });
    expect(await send(open('otlp'))).toMatchObject({
      kind: 'partly',
      isFinal: true,
      again: [],
      refused: [{ at: 0 }, { at: 1 }, { at: 2 }],
    });
  });
});

interface TargetPayload {
  readonly resourceLogs: readonly {
    readonly resource: { readonly attributes: unknown };
    readonly scopeLogs: readonly { readonly logRecords: readonly Record<string, unknown>[] }[];
  }[];
}

it('covers every kind that is reached over HTTP', () => {
  const kinds: Record<Exclude<TargetSettings['kind'], 'kafka'>, true> = {
    http: true,
    'json-rows': true,
    'bulk-index': true,
    otlp: true,
  };
  expect(Object.keys(success).sort()).toEqual(Object.keys(kinds).sort());
});
