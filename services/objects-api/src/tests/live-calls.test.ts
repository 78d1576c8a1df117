import { connectorSettings, createLogger, createMetrics, createStopper, readConfig } from '@decision/service-kit';
import { createLiveCalls, openLiveCalls } from './live-calls';

const cache = {
  shared: { get: () => Promise.resolve(undefined), set: () => Promise.resolve(), delete: () => Promise.resolve() },
};
const node = (type: string, fields: Readonly<Record<string, unknown>>) => ({
  node: { ref: 'a', type, fields, onError: 'fail' as const, defaultOutputs: {} },
  ...{ path: ['a'], indexes: [], inputs: { n: 2 }, signal: new AbortController().signal },
});

it('runs nodes that reach out with the settings of the operator, and none that write instances', async () => {
  const stopper = createStopper();
  const opening = {
    logger: createLogger({ service: 'test', level: 'silent' }),
    metrics: createMetrics('test'),
    stopper,
  };
  const callFor = await openLiveCalls(cache, { ...opening, config: readConfig(connectorSettings, {}) });
  const call = callFor({
    ...{ workspaceId: 'w', versionId: 'draft', deadline: Date.now() + 20_000 },
    ...{ idempotencyRoot: 'r', round: 0, requestId: 'q' },
  });
  const code = { code: 'outputs.twice = inputs.n * 2', outputs: [{ key: 'twice', type: 'number' }] };
  await expect(call(node('code', code))).resolves.toEqual({ twice: 4 });
  await expect(call(node('api', { url: 'http://127.0.0.1:1/' }))).rejects.toThrow(/FLOW_API_ALLOWED_HOSTS/);
  await expect(call(node('entity', { entitySlug: 'orders' }))).rejects.toThrow(/type entity cannot run here/);
  await stopper.stop();
});

it('opens the nodes once, and again only if that failed', async () => {
  const open = jest
    .fn<ReturnType<typeof openLiveCalls>, []>()
    .mockRejectedValueOnce(new RangeError('not now'))
    .mockResolvedValue(() => () => Promise.resolve({}));
  const live = createLiveCalls(open);
  const test = (): Promise<string> => Promise.resolve('ran');
  await expect(live.run(test)).rejects.toThrow('not now');
  await expect(Promise.all([live.run(test), live.run(test)])).resolves.toEqual(['ran', 'ran']);
  await expect(live.run(test)).resolves.toBe('ran');
  expect(open).toHaveBeenCalledTimes(2);
});
