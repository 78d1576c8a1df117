import { randomBytes } from 'node:crypto';
import { type FleetUnderTest, repositoryRoot, SOLVING, startFleetUnderTest } from '../fleet/fleet-under-test';
import { type CollectedSpan, type SpanCollector, startSpanCollector } from './span-collector';
import { execFileSync } from 'node:child_process';
import { waitUntil } from '@decision/local-stack';

let collector: SpanCollector;
let fleet: FleetUnderTest;

beforeAll(async () => {
  collector = await startSpanCollector();
  fleet = await startFleetUnderTest({
    services: [...SOLVING, 'contexts-api', 'log-collector'],
    common: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector-token',
      // The fleet itself records nothing; callers decide.
      OTEL_TRACES_SAMPLER_ARG: '0',
    },
  });
}, 360_000);
afterAll(async () => {
  await fleet?.stop();
  await collector?.stop();
}, 60_000);

/** A caller's position in a new trace. */
const newCaller = (flags: '00' | '01') => {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-${flags}` } };
};

const spansOf = (traceId: string): readonly CollectedSpan[] =>
  collector.spans.filter((span) => span.traceId === traceId);

const find = (spans: readonly CollectedSpan[], service: string, name: string | RegExp): CollectedSpan | undefined =>
  spans.find(
    (span) => span.service === service && (span.name === name || (name instanceof RegExp && name.test(span.name))),
  );

/** Spans up to the root of the called process, the span itself first. */
const pathOf = (spans: readonly CollectedSpan[], span: CollectedSpan | undefined): readonly string[] => {
  const path: string[] = [];
  for (let one = span; one !== undefined; one = spans.find(({ spanId }) => spanId === one?.parentId))
    path.push(`${one.service}: ${one.name}`);
  return path;
};

const PARCEL = { destination: { country: 'DE' }, weight: 2.4, express: false, note: 'a-value-of-the-client' };

it('a solve is one trace below its caller: gateway, broker, worker, database and cache', async () => {
  const caller = newCaller('01');
  const { status, headers } = await fleet.call('POST', '/api/v1/solve/shipping-price', PARCEL, caller.headers);
  expect(status).toBe(200);
  expect(headers.get('x-trace-id')).toBe(caller.traceId);
  await waitUntil(
    () =>
      find(spansOf(caller.traceId), 'hps-gateway', /^POST /) !== undefined &&
      find(spansOf(caller.traceId), 'solve-worker', 'handle solve') !== undefined,
    'both processes have exported their spans',
  );
  const spans = spansOf(caller.traceId);
  const gateway = find(spans, 'hps-gateway', 'POST /api/v1/solve/{slug}');
  expect(gateway).toMatchObject({ parentId: caller.spanId, kind: 2 });
  expect(gateway?.attributes).toMatchObject({ 'http.route': '/api/v1/solve/{slug}' });
  const handling = ['solve-worker: handle solve', 'hps-gateway: request solve', `hps-gateway: ${gateway?.name}`];
  expect(pathOf(spans, find(spans, 'solve-worker', 'handle solve'))).toEqual(handling);
  // The first solve after the start finds the caches of the processes empty.
  expect(pathOf(spans, find(spans, 'hps-gateway', 'get'))).toEqual([
    'hps-gateway: get',
    `hps-gateway: ${gateway?.name}`,
  ]);
  const statement = spans.find(
    ({ service, attributes }) => service === 'solve-worker' && attributes['db.system.name'] === 'postgresql',
  );
  expect(pathOf(spans, statement).slice(-3)).toEqual(handling);
  const read = spans.find(
    ({ service, attributes }) => service === 'solve-worker' && attributes['db.system.name'] === 'redis',
  );
  expect(pathOf(spans, read).slice(-3)).toEqual(handling);
});

it('facts of a context, the rules that they trigger and what is written are one trace', async () => {
  const caller = newCaller('01');
  const facts = { total: 12, country: 'DE', customer_id: 'c-traced' };
  const { status } = await fleet.call('POST', '/api/v1/contexts/orders/o-traced', facts, caller.headers);
  expect(status).toBe(200);
  await waitUntil(
    () =>
      find(spansOf(caller.traceId), 'contexts-api', /^POST /) !== undefined &&
      find(spansOf(caller.traceId), 'solve-worker', 'handle settle') !== undefined,
    'both processes have exported their spans',
  );
  const spans = spansOf(caller.traceId);
  const submission = find(spans, 'contexts-api', /^POST /);
  expect(submission).toMatchObject({ parentId: caller.spanId });
  expect(pathOf(spans, find(spans, 'solve-worker', 'handle settle'))).toEqual([
    ...['solve-worker: handle settle', 'contexts-api: request settle', `contexts-api: ${submission?.name}`],
  ]);
  const writes = spans.filter(({ service, name }) => service === 'contexts-api' && /^(insert|update) /.test(name));
  expect(writes.length).toBeGreaterThan(1);
  for (const write of writes) expect(pathOf(spans, write).at(-1)).toBe(`contexts-api: ${submission?.name}`);
});

it('a trace that its caller does not record, and one that begins here beyond the share, are recorded by nobody', async () => {
  const caller = newCaller('00');
  await fleet.call('POST', '/api/v1/solve/shipping-price', PARCEL, caller.headers);
  const { headers } = await fleet.call('POST', '/api/v1/solve/shipping-price', PARCEL);
  const own = headers.get('x-trace-id') ?? '';
  expect(own).toMatch(/^[0-9a-f]{32}$/);
  const last = newCaller('01');
  await fleet.call('POST', '/api/v1/solve/shipping-price', PARCEL, last.headers);
  await waitUntil(
    () => find(spansOf(last.traceId), 'solve-worker', 'handle solve') !== undefined,
    'a later trace is there',
  );
  expect([...spansOf(caller.traceId), ...spansOf(own)]).toEqual([]);
  expect(new Set(collector.spans.map(({ name }) => name))).not.toContain('GET /health');
});

it('the collector is shown its token, and no span holds a key or a value of a client', () => {
  expect(collector.headers.every(({ authorization }) => authorization === 'Bearer collector-token')).toBe(true);
  const all = Buffer.concat(collector.bodies);
  for (const hidden of [fleet.apiKey, 'a-value-of-the-client', 'c-traced', 'o-traced'])
    expect(all.includes(hidden)).toBe(false);
});

it('what records traces is not loaded if they are off', () => {
  const script = `
    for (const name of ['broker', 'cache', 'persistence', 'service-kit', 'infrastructure'])
      require('./packages/' + name + '/dist');
    process.stdout.write(JSON.stringify(Object.keys(require.cache).filter((file) => /opentelemetry.(sdk|exporter|otlp)/.test(file))));`;
  const loaded = execFileSync(process.execPath, ['-e', script], { cwd: repositoryRoot, encoding: 'utf8' });
  expect(JSON.parse(loaded)).toEqual([]);
});
