import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { openTracing, traced, tracer } from '../src/index';

/** A collector with configurable answers that records the texts it receives. */
const startCollector = async () => {
  const state = { status: 200, isSilent: false, received: [] as string[] };
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      if (state.isSilent) return;
      if (state.status === 200) state.received.push(Buffer.concat(pieces).toString('latin1'));
      response.writeHead(state.status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { state, url: `http://127.0.0.1:${port}`, stop };
};

const open = async (endpoint: string, sampleRatio = 1) => {
  const counts = { exported: 0, failed: 0 };
  const said: (string | undefined)[] = [];
  const tracing = await openTracing(
    { service: 'tests', attributes: { zone: 'north' }, endpoint, headers: {}, authorities: undefined, sampleRatio },
    { onExport: (spans, outcome) => (counts[outcome] += spans), onCollector: (fault) => said.push(fault) },
  );
  return { tracing, counts, said };
};

const end = (name: string): void => tracer()?.start({ name, kind: 'server' }, undefined).end();

it('exports remaining spans when it is closed, and records nothing afterwards', async () => {
  const collector = await startCollector();
  const { tracing, counts } = await open(`${collector.url}/`);
  end('the last request');
  await tracing.close();
  expect(counts).toEqual({ exported: 1, failed: 0 });
  expect(collector.state.received.join()).toContain('the last request');
  expect(collector.state.received.join()).toContain('north');
  expect(tracer()).toBeUndefined();
  await collector.stop();
});

it('reports once that the collector accepts nothing, and once that it does again', async () => {
  const collector = await startCollector();
  const { tracing, counts, said } = await open(collector.url);
  collector.state.status = 400;
  // As many as one export sends.
  const send = async (): Promise<void> => {
    const before = counts.exported + counts.failed;
    for (let index = 0; index < 1_024; index += 1) end('a request');
    while (counts.exported + counts.failed === before) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  await send();
  await send();
  expect(said).toEqual([expect.any(String)]);
  collector.state.status = 200;
  await send();
  expect(said).toEqual([expect.any(String), undefined]);
  expect(counts).toEqual({ exported: 1_024, failed: 2_048 });
  await tracing.close();
  await collector.stop();
});

it('holds a bounded number of spans while the collector is silent, and drops the others', async () => {
  const collector = await startCollector();
  collector.state.isSilent = true;
  const { tracing, counts } = await open(collector.url);
  for (let index = 0; index < 50_000; index += 1) end('a request');
  // Closing closes the connections of running exports.
  const closing = tracing.close();
  collector.state.isSilent = false;
  await collector.stop();
  await closing;
  expect(counts.exported).toBe(0);
  expect(counts.failed).toBeLessThanOrEqual(8_192 + 1_024);
  expect(counts.failed).toBeGreaterThanOrEqual(8_192);
});

it('records the sampled share of its own traces, and those that a caller records', async () => {
  const collector = await startCollector();
  const { tracing, counts } = await open(collector.url, 0.25);
  const caller = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7';
  for (let index = 0; index < 2_000; index += 1) end('a request');
  for (let index = 0; index < 10; index += 1) {
    tracer()?.start({ name: 'recorded', kind: 'server' }, `${caller}-01`).end();
    tracer()?.start({ name: 'left out', kind: 'server' }, `${caller}-00`).end();
  }
  await tracing.close();
  // 500 expected; five standard deviations are 97.
  expect(counts.exported - 10).toBeGreaterThan(403);
  expect(counts.exported - 10).toBeLessThan(597);
  expect(collector.state.received.join()).not.toContain('left out');
  await collector.stop();
});

it('names the failure of work by its code or class, and rethrows it', async () => {
  const collector = await startCollector();
  const { tracing } = await open(collector.url);
  const recorder = tracer();
  const span = recorder?.start({ name: 'root', kind: 'server' }, undefined);
  if (recorder === undefined || span === undefined) throw new Error('There is no tracer.');
  const fail = (error: unknown) => jest.fn<Promise<never>, []>().mockRejectedValue(error);
  await recorder.within(span, async () => {
    const coded = Object.assign(new Error('a text with a value'), { code: 'ECONNRESET' });
    await expect(traced(() => ({ name: 'one', kind: 'client' }), fail(coded))).rejects.toBe(coded);
    const typed = new TypeError('a text with a value');
    await expect(traced(() => ({ name: 'two', kind: 'client' }), fail(typed))).rejects.toBe(typed);
    await expect(traced(() => ({ name: 'three', kind: 'client' }), fail('thrown text'))).rejects.toBe('thrown text');
  });
  span.end();
  span.end('again');
  await tracing.close();
  const text = collector.state.received.join();
  for (const shown of ['ECONNRESET', 'TypeError', 'unknown']) expect(text).toContain(shown);
  for (const hidden of ['a text with a value', 'thrown text', 'again']) expect(text).not.toContain(hidden);
  await collector.stop();
});

it('runs work without a span if none is current', async () => {
  const describe = jest.fn();
  await expect(traced(describe, () => Promise.resolve('done'))).resolves.toBe('done');
  const collector = await startCollector();
  const { tracing, counts } = await open(collector.url);
  await expect(traced(describe, () => Promise.resolve('done'))).resolves.toBe('done');
  await tracing.close();
  expect(describe).not.toHaveBeenCalled();
  expect(counts).toEqual({ exported: 0, failed: 0 });
  await collector.stop();
});
