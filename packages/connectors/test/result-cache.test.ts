import { createHmac } from 'node:crypto';
import { Secret } from '@decision/flows';
import { createConnectors, type NodeOutputs } from '../src';
import { callOf, connectorOf, runOf } from './support';

/** A shared cache in memory that records its calls. */
const memoryCache = () => {
  const entries = new Map<string, string>();
  const lives: (number | undefined)[] = [];
  return {
    entries,
    lives,
    shared: {
      get: (key: string) => Promise.resolve(entries.get(key)),
      set: (key: string, value: string, options?: { readonly ttlMs?: number }) => {
        entries.set(key, value);
        lives.push(options?.ttlMs);
        return Promise.resolve();
      },
      delete: () => Promise.resolve(),
    },
  };
};

const seal = (key: string, text: string): Buffer =>
  createHmac('sha256', 'a secret of the deployment').update(key).update(text).digest();

const counted = (cache?: Parameters<typeof createConnectors>[0]['cache'], answer: NodeOutputs = { status: 200 }) => {
  let runs = 0;
  const outcomes: string[] = [];
  const connectors = createConnectors({
    connectors: [
      connectorOf(() => {
        runs += 1;
        return Promise.resolve({ ...answer, run: runs });
      }),
    ],
    cache,
    onCallEnd: ({ outcome }) => outcomes.push(outcome),
  });
  return {
    ask: (call: Parameters<typeof callOf>, run = runOf()) => connectors.callFor(run)(callOf(...call)),
    outcomes,
  };
};

describe('results of nodes with useCache', () => {
  it('CN-10: are not kept for other types, whose outputs may be secrets', async () => {
    const cache = { ...memoryCache(), seal };
    const answer = { key: new Secret('key', 'marker') };
    const vault = connectorOf(() => Promise.resolve(answer), { type: 'vault' });
    const connectors = createConnectors({ connectors: [vault], cache });
    for (let run = 0; run < 2; run += 1) {
      const outputs = await connectors.callFor(runOf())(callOf('vault', { useCache: true }));
      expect((outputs['key'] as Secret).reveal()).toBe('marker');
    }
    expect(cache.entries.size).toBe(0);
  });

  it('CN-10: are kept per workspace, node and inputs', async () => {
    const { ask, outcomes } = counted(memoryCache());
    const fields = { useCache: true, url: 'https://a.example' };
    let cached = 0;
    const onCached = (): number => (cached += 1);
    await expect(ask(['api', fields, { inputs: { a: 1 }, onCached }])).resolves.toMatchObject({ run: 1 });
    expect(cached).toBe(0);
    await expect(ask(['api', fields, { inputs: { a: 1 }, onCached }])).resolves.toMatchObject({ run: 1 });
    expect(cached).toBe(1);
    await expect(ask(['api', { ...fields, ref: 'b', retries: 2 }, { inputs: { a: 1 } }])).resolves.toMatchObject({
      run: 1,
    });
    await expect(ask(['api', fields, { inputs: { a: 2 } }])).resolves.toMatchObject({ run: 2 });
    await expect(ask(['api', fields, { inputs: { a: '1' } }])).resolves.toMatchObject({ run: 3 });
    await expect(ask(['api', { ...fields, url: 'x' }, { inputs: { a: 1 } }])).resolves.toMatchObject({ run: 4 });
    await expect(ask(['api', fields, { inputs: { a: 1 } }], runOf({ workspaceId: 'w2' }))).resolves.toMatchObject({
      run: 5,
    });
    await expect(ask(['api', { url: fields.url }, { inputs: { a: 1 } }])).resolves.toMatchObject({ run: 6 });
    expect(outcomes).toEqual(['ok', 'cached', 'cached', 'ok', 'ok', 'ok', 'ok', 'ok']);
  });

  it('CN-11: are kept by cacheKey instead of the inputs if a node has one', async () => {
    const { ask } = counted(memoryCache());
    const fields = { useCache: true, cacheKey: 'customer {{id}}' };
    await expect(ask(['api', fields, { inputs: { id: 1, noise: 1 } }])).resolves.toMatchObject({ run: 1 });
    await expect(ask(['api', fields, { inputs: { id: 1, noise: 2 } }])).resolves.toMatchObject({ run: 1 });
    await expect(ask(['api', fields, { inputs: { id: 2, noise: 1 } }])).resolves.toMatchObject({ run: 2 });
  });

  it.each([
    [undefined, 60_000],
    [0, 1_000],
    [-5, 1_000],
    [42.7, 42_000],
    [1e9, 300_000],
  ])('CN-12: with cacheExpiration %p live %p ms', async (cacheExpiration, expected) => {
    const cache = memoryCache();
    await counted(cache).ask(['api', { useCache: true, cacheExpiration }]);
    expect(cache.lives).toEqual([expected]);
  });

  it('CN-13: that are damaged, unsealed or of undeclared types count as missing', async () => {
    const cache = { ...memoryCache(), seal };
    const { ask } = counted(cache);
    const call = ['api', { useCache: true, outputs: [{ key: 'run', type: 'number' }] }] as const;
    await expect(ask([...call])).resolves.toMatchObject({ run: 1 });
    await expect(ask([...call])).resolves.toMatchObject({ run: 1 });
    const [[key = '', good = ''] = []] = cache.entries;
    const sealed = (json: string): string => {
      const content = `${Date.now()} ${json}`;
      return `s1 ${seal(key, content).toString('base64url')} ${content}`;
    };
    const bad = [
      ...['', 'nonsense', good.slice(0, -1), `c1 ${Date.now()} {"run":9}`, 's2 what a later version may write'],
      ...['null', '[]', '"text"', '{"run":"9"}', '{"status":"ok","run":9}'].map(sealed),
    ];
    let run = 1;
    for (const text of bad) {
      cache.entries.set(key, text);
      run += 1;
      await expect(ask([...call])).resolves.toMatchObject({ run });
    }
    cache.entries.set(key, sealed('{"run":9}'));
    await expect(ask([...call])).resolves.toEqual({ run: 9 });
  });

  it('CN-14: contain no secret, and are separate for different secrets of a call', async () => {
    const cache = { ...memoryCache(), seal };
    const { ask } = counted(cache, { echo: 'you sent marker-1' });
    const callWith = (value: string): Parameters<typeof callOf> => [
      'api',
      { useCache: true },
      { inputs: { token: new Secret('token', value) } },
    ];
    await expect(ask(callWith('marker-1'))).resolves.toEqual({ echo: 'you sent [secret]', run: 1 });
    await expect(ask(callWith('marker-1'))).resolves.toMatchObject({ run: 1 });
    await expect(ask(callWith('marker-2'))).resolves.toMatchObject({ run: 2 });
    expect(cache.entries.size).toBe(2);
    expect([...cache.entries].find(([, text]) => text.includes('"run":1'))?.join()).not.toContain('marker');
  });

  it('CN-14: of calls with secrets are not kept if entries are not sealed', async () => {
    const cache = memoryCache();
    const { ask } = counted(cache);
    await ask(['api', { useCache: true }, { inputs: { token: new Secret('token', 'marker') } }]);
    expect(cache.entries.size).toBe(0);
  });

  it('CN-15: are not kept if they are large or the node fails, and without a cache every node runs', async () => {
    const cache = memoryCache();
    await counted(cache, { body: 'x'.repeat(1_048_577) }).ask(['api', { useCache: true }]);
    const failing = createConnectors({ connectors: [connectorOf(() => Promise.reject(new RangeError()))], cache });
    await expect(failing.callFor(runOf())(callOf('api', { useCache: true }))).rejects.toThrow();
    expect(cache.entries.size).toBe(0);
    const { ask } = counted();
    await ask(['api', { useCache: true }]);
    await expect(ask(['api', { useCache: true }])).resolves.toMatchObject({ run: 2 });
  });
});

describe('CN-16: outputs of subflows', () => {
  const node = (changes: object = {}) => {
    const fields = { flow: 'inner', version: 1, useCache: true, runs: ['v1', 'v7'], ...changes };
    return { node: { ...callOf('flow').node, fields }, inputs: { n: 1 } };
  };

  it('are kept per workspace, versions that it runs, and inputs', async () => {
    const cache = memoryCache();
    const connectors = createConnectors({ connectors: [], cache });
    const keep = connectors.keepFor(runOf());
    expect(await keep(node())?.read()).toBeUndefined();
    keep(node())?.write({ total: 2 });
    expect(await keep(node())?.read()).toEqual({ total: 2 });
    expect(await keep(node({ runs: ['v1', 'v8'] }))?.read()).toBeUndefined();
    expect(await keep({ ...node(), inputs: { n: 2 } })?.read()).toBeUndefined();
    expect(
      await connectors
        .keepFor(runOf({ workspaceId: 'w2' }))(node())
        ?.read(),
    ).toBeUndefined();
    expect(cache.lives).toEqual([60_000]);
  });

  it('are not kept without a cache, and a cache that fails to store them fails no call', async () => {
    expect(createConnectors({ connectors: [] }).keepFor(runOf())(node())).toBeUndefined();
    const cache = memoryCache();
    cache.shared.set = () => Promise.reject(new Error('no room'));
    const kept = createConnectors({ connectors: [], cache }).keepFor(runOf())(node());
    kept?.write({ total: 2 });
    expect(await kept?.read()).toBeUndefined();
  });
});
