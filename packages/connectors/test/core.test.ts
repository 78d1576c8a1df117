import { Secret } from '@decision/flows';
import { type CallEnd, type ConnectorCall, ConnectorFailure, createConnectors, type NodeOutputs } from '../src';
import { callOf, connectorOf, runOf } from './support';

const never = (): Promise<NodeOutputs> => new Promise(() => undefined);
const broken = (): Promise<NodeOutputs> => Promise.reject(new ConnectorFailure('It is broken.', { mayRetry: true }));

describe('time', () => {
  it('CN-1: gives a node the least of the time of the request, its own, and that of its kind', async () => {
    const given: number[] = [];
    const noteTime = (call: ConnectorCall): Promise<NodeOutputs> => {
      given.push(call.deadline - Date.now());
      return Promise.resolve({});
    };
    const connectors = createConnectors({ connectors: [connectorOf(noteTime, { timeoutMs: 5_000 })] });
    const askedFor = (timeoutMs: number | undefined, leftMs: number): Promise<NodeOutputs> =>
      connectors.callFor(runOf({ deadline: Date.now() + leftMs }))(callOf('api', { timeoutMs }));
    await askedFor(undefined, 60_000);
    await askedFor(3_000, 60_000);
    await askedFor(9_000, 60_000);
    await askedFor(3_000, 1_000);
    expect(given.map((ms) => Math.ceil(ms / 1_000))).toEqual([5, 3, 5, 1]);
    await connectors.stop();
  });

  it('CN-2: stops waiting at the deadline, even for a connector that ignores it', async () => {
    const ends: CallEnd[] = [];
    const connectors = createConnectors({ connectors: [connectorOf(never)], onCallEnd: (end) => ends.push(end) });
    await expect(connectors.callFor(runOf())(callOf('api', { timeoutMs: 20 }))).rejects.toThrow(/within its 20 ms/);
    await expect(connectors.callFor(runOf({ deadline: Date.now() + 15 }))(callOf('api'))).rejects.toThrow(
      /time of the request was over/,
    );
    await expect(connectors.callFor(runOf({ deadline: Date.now() - 1 }))(callOf('api'))).rejects.toThrow(
      /time of the request was over/,
    );
    expect(ends.map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual(Array(3).fill('api timeout'));
    await connectors.stop();
  });

  it('CN-3: aborts calls that the flow no longer needs, and every call when the process stops', async () => {
    const signals: AbortSignal[] = [];
    const connectors = createConnectors({
      connectors: [
        connectorOf(({ signal }) => {
          signals.push(signal);
          return never();
        }),
      ],
    });
    const abort = new AbortController();
    const abandoned = connectors.callFor(runOf())(callOf('api', {}, { signal: abort.signal }));
    const running = connectors.callFor(runOf())(callOf('api'));
    abort.abort();
    await expect(abandoned).rejects.toMatchObject({ outcome: 'abandoned' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    const stopped = connectors.stop();
    await expect(running).rejects.toThrow(/is stopping/);
    await stopped;
    await expect(connectors.callFor(runOf())(callOf('api'))).rejects.toThrow(/is stopping/);
  });
});

describe('attempts', () => {
  const failing = (times: number, failure = new ConnectorFailure('It is broken.', { mayRetry: true })) => {
    const seen: number[] = [];
    const keys = new Set<string>();
    const run = ({ attempt, idempotencyKey }: ConnectorCall): Promise<NodeOutputs> => {
      seen.push(attempt);
      keys.add(idempotencyKey);
      return seen.length <= times ? Promise.reject(failure) : Promise.resolve({ done: true });
    };
    return { seen, keys, run };
  };

  it('CN-4: retries safe calls as often as the node says, under one idempotency key', async () => {
    const { seen, keys, run } = failing(2);
    const connectors = createConnectors({ connectors: [connectorOf(run)], random: () => 0 });
    await expect(connectors.callFor(runOf())(callOf('api', { retries: 2 }))).resolves.toEqual({ done: true });
    expect(seen).toEqual([1, 2, 3]);
    expect(keys.size).toBe(1);
  });

  it.each([
    ['the node asks for no retries', {}, {}, undefined],
    ['the call is not safe to repeat', { retries: 3 }, { isRepeatable: () => false }, undefined],
    ['the failure would be the same', { retries: 3 }, {}, new ConnectorFailure('No.', { mayRetry: false })],
    ['the time would be over', { retries: 3, timeoutMs: 40 }, {}, undefined],
    [
      'the target asks for a longer pause than there is time',
      { retries: 3 },
      {},
      new ConnectorFailure('Later.', { mayRetry: true, retryAfterMs: 20_000 }),
    ],
  ])('CN-4: does not retry when %s', async (_title, fields, changes, failure) => {
    const { seen, run } = failing(9, failure);
    const connectors = createConnectors({ connectors: [connectorOf(run, changes)] });
    await expect(connectors.callFor(runOf())(callOf('api', fields))).rejects.toThrow(ConnectorFailure);
    expect(seen).toEqual([1]);
  });
});

describe('circuits', () => {
  /** Longer than a busy machine takes for some calls. */
  const OPEN_MS = 1_500;

  it('CN-5: open after consecutive failures, and probe the target with one call', async () => {
    let isUp = false;
    let calls = 0;
    const run = (): Promise<NodeOutputs> => {
      calls += 1;
      return isUp ? Promise.resolve({}) : broken();
    };
    const connectors = createConnectors({
      connectors: [connectorOf(run, { targetOf: ({ fields }) => String(fields['url']) })],
      circuitFailures: 2,
      circuitOpenMs: OPEN_MS,
    });
    const ask = (url: string, workspaceId = 'w1'): Promise<string> =>
      connectors
        .callFor(runOf({ workspaceId }))(callOf('api', { url }))
        .then(
          () => 'ok',
          (error: ConnectorFailure) => error.outcome,
        );
    expect([await ask('x'), await ask('x'), await ask('x')]).toEqual(['failed', 'failed', 'circuit_open']);
    expect(connectors.status().openCircuits).toBe(1);
    expect([await ask('y'), await ask('x', 'w2')]).toEqual(['failed', 'failed']);
    expect(calls).toBe(4);
    await new Promise((resolve) => setTimeout(resolve, OPEN_MS + 10));
    expect(await Promise.all([ask('x'), ask('x')])).toEqual(['failed', 'circuit_open']);
    await new Promise((resolve) => setTimeout(resolve, OPEN_MS + 10));
    isUp = true;
    expect([await ask('x'), await ask('x')]).toEqual(['ok', 'ok']);
    expect(connectors.status().openCircuits).toBe(0);
  });

  it('CN-5: stay closed for failures that show that the target answers, and for failures of the caller', async () => {
    const failures = [
      new ConnectorFailure('404', {}),
      new ConnectorFailure('no such input', { outcome: 'invalid' }),
      new ConnectorFailure('private address', { outcome: 'refused' }),
    ];
    let at = 0;
    const connectors = createConnectors({
      connectors: [
        connectorOf(() => Promise.reject(failures[at++ % failures.length] ?? new Error()), { targetOf: () => 'x' }),
      ],
      circuitFailures: 1,
    });
    for (let turn = 0; turn < 6; turn += 1)
      await expect(connectors.callFor(runOf())(callOf('api'))).rejects.not.toMatchObject({ outcome: 'circuit_open' });
  });
});

describe('places', () => {
  it('CN-6: bound calls by target and in all, and targets take turns', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const run = ({ fields }: ConnectorCall): Promise<NodeOutputs> =>
      new Promise((resolve) => {
        begun.push(String(fields['url']));
        ends.push(() => resolve({}));
      });
    const connectors = createConnectors({
      connectors: [connectorOf(run, { targetOf: ({ fields }) => String(fields['url']) })],
      maxCalls: 3,
      maxCallsPerTarget: 2,
      maxWaiting: 3,
    });
    const ask = (url: string): Promise<NodeOutputs> => connectors.callFor(runOf())(callOf('api', { url }));
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const all = [ask('slow'), ask('slow'), ask('slow'), ask('other'), ask('other'), ask('third')];
    await turn();
    expect(begun).toEqual(['slow', 'slow', 'other']);
    expect(connectors.status()).toMatchObject({ running: 3, waiting: 3 });
    await expect(ask('third')).rejects.toMatchObject({ outcome: 'busy' });
    for (const expected of ['other', 'third', 'slow']) {
      // The last call to begin ends: the slow calls stay until only they are left.
      ends[begun.length === 5 ? 0 : begun.length - 1]?.();
      await turn();
      expect(begun.at(-1)).toBe(expected);
    }
    for (const end of ends) end();
    await Promise.all(all);
    expect(connectors.status()).toMatchObject({ running: 0, waiting: 0 });
  });

  it('CN-6: are released by calls that are aborted, including waiting ones', async () => {
    const connectors = createConnectors({
      connectors: [connectorOf(never, { targetOf: () => 'x' })],
      maxCallsPerTarget: 1,
      circuitFailures: 100,
    });
    const ask = (): Promise<NodeOutputs> => connectors.callFor(runOf())(callOf('api', { timeoutMs: 10 }));
    await Promise.all([1, 2, 3].map(() => expect(ask()).rejects.toMatchObject({ outcome: 'timeout' })));
    expect(connectors.status()).toMatchObject({ running: 0, waiting: 0 });
  });
});

describe('idempotency keys', () => {
  const keyOf = async (run = runOf(), changes = {}): Promise<string> => {
    let key = '';
    const connectors = createConnectors({
      connectors: [
        connectorOf(({ idempotencyKey }) => {
          key = idempotencyKey;
          return Promise.resolve({});
        }),
      ],
    });
    await connectors.callFor(run)(callOf('api', {}, changes));
    return key;
  };

  it('CN-7: are the same when a flow runs again, and differ by root, version, path, item, round and inputs', async () => {
    const inputs = { a: { x: 1, y: [2] }, b: 'text' };
    const same = [
      await keyOf(runOf({ requestId: 'one', deadline: Date.now() + 5_000 }), { inputs }),
      await keyOf(runOf({ requestId: 'two' }), { inputs: { b: 'text', a: { y: [2], x: 1 } } }),
    ];
    const others = [
      await keyOf(runOf({ idempotencyRoot: 'other' }), { inputs }),
      await keyOf(runOf({ versionId: 'v2' }), { inputs }),
      await keyOf(runOf({ round: 1 }), { inputs }),
      await keyOf(runOf(), { inputs, path: ['sub', 'a'] }),
      await keyOf(runOf(), { inputs, indexes: [1] }),
      await keyOf(runOf(), { inputs, indexes: [1, 2] }),
      await keyOf(runOf(), { inputs: { ...inputs, b: 'text2' } }),
    ];
    expect(new Set(same).size).toBe(1);
    expect(new Set([...same, ...others]).size).toBe(1 + others.length);
    expect(same[0]).toMatch(/^[\w-]{43}$/);
  });

  it('CN-7: do not change with a new value of a secret', async () => {
    const first = await keyOf(runOf(), { inputs: { token: new Secret('token', 'one') } });
    expect(await keyOf(runOf(), { inputs: { token: new Secret('token', 'two') } })).toBe(first);
    expect(await keyOf(runOf(), { inputs: { token: new Secret('other', 'one') } })).not.toBe(first);
  });
});

describe('secrets', () => {
  const marker = 'm4rk&r "é/+';
  const forms = [
    marker,
    encodeURIComponent(marker),
    Buffer.from(marker).toString('base64'),
    Buffer.from(marker).toString('base64url'),
    JSON.stringify(marker).slice(1, -1),
    new URLSearchParams({ x: marker }).toString().slice(2),
    'm4rk&amp;r &quot;é/+',
  ];
  const inputs = { auth: { list: [new Secret('token', marker)] }, empty: new Secret('none', '') };

  it('CN-8: are removed from outputs in every encoding', async () => {
    const answer = { text: `<${forms.join('|')}>`, [marker]: [{ deep: marker }], other: 5, kept: ['m4rk'] };
    const connectors = createConnectors({ connectors: [connectorOf(() => Promise.resolve(answer))] });
    const outputs = await connectors.callFor(runOf())(callOf('api', {}, { inputs }));
    expect(outputs).toEqual({
      text: `<${forms.map(() => '[secret]').join('|')}>`,
      '[secret]': [{ deep: '[secret]' }],
      other: 5,
      kept: ['m4rk'],
    });
  });

  it('CN-8: are removed from errors, their stacks and logged faults', async () => {
    const faults: unknown[] = [];
    const rejections = [
      new ConnectorFailure(`Could not log in with ${forms.join(' ')}.`),
      new TypeError(`no ${marker}`),
    ];
    const connectors = createConnectors({
      connectors: [connectorOf(() => Promise.reject(rejections.shift() ?? new Error()))],
      onFault: (fault) => faults.push(fault),
    });
    for (let turn = 0; turn < 2; turn += 1) {
      const error = await connectors
        .callFor(runOf())(callOf('api', {}, { inputs }))
        .then(fail, (e: Error) => e);
      const shown = `${String(error)} ${error.stack ?? ''} ${JSON.stringify(error)}`;
      for (const form of forms) expect(shown).not.toContain(form);
    }
    expect(faults).toHaveLength(1);
    expect(JSON.stringify(faults)).not.toContain('m4rk');
  });

  it('CN-8: with apostrophes are removed from XML in each of its spellings', async () => {
    const text = "<a b='it&apos;s&lt;1'>it&#39;s&lt;1</a> it's&lt;1";
    const connectors = createConnectors({ connectors: [connectorOf(() => Promise.resolve({ text }))] });
    const outputs = await connectors.callFor(runOf())(
      callOf('api', {}, { inputs: { key: new Secret('key', "it's<1") } }),
    );
    expect(outputs).toEqual({ text: "<a b='[secret]'>[secret]</a> [secret]" });
  });

  it('CN-8: that are numbers are also removed as numbers', async () => {
    const connectors = createConnectors({
      connectors: [connectorOf(() => Promise.resolve({ pin: 4_711, other: 47_110 }))],
    });
    const call = callOf('api', {}, { inputs: { pin: new Secret('pin', '4711') } });
    await expect(connectors.callFor(runOf())(call)).resolves.toEqual({ pin: '[secret]', other: 47_110 });
  });
});

const fail = (): Error => {
  throw new RangeError('It did not fail.');
};

it('CN-9: a node without a connector fails with a sentence that says so', async () => {
  const ends: CallEnd[] = [];
  const connectors = createConnectors({ connectors: [], onCallEnd: (end) => ends.push(end) });
  await expect(connectors.callFor(runOf())(callOf('entity'))).rejects.toThrow(/Nodes of type entity cannot run here/);
  expect(ends).toMatchObject([{ kind: 'entity', outcome: 'not_available', durationMs: expect.any(Number) }]);
});

it('CN-9: a fault of a connector is logged for the operator, and callers get one general sentence', async () => {
  const faults: { readonly type: string; readonly stack: string }[] = [];
  const connectors = createConnectors({
    connectors: [connectorOf(() => Promise.reject(new TypeError('x is not a function')))],
    onFault: (fault) => faults.push(fault),
  });
  await expect(connectors.callFor(runOf())(callOf('api'))).rejects.toThrow(
    /^This node, of type api, failed by a fault/,
  );
  expect(faults).toMatchObject([{ type: 'api', stack: expect.stringContaining('x is not a function') }]);
});

it('CN-9: failures are counted by outcome', async () => {
  const ends: CallEnd[] = [];
  const connectors = createConnectors({ connectors: [connectorOf(broken)], onCallEnd: (end) => ends.push(end) });
  await expect(connectors.callFor(runOf())(callOf('api'))).rejects.toThrow('It is broken.');
  expect(ends).toMatchObject([{ outcome: 'failed' }]);
});
