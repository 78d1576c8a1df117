import { Secret } from '@decision/flows';
import { findSyntaxFault } from '@decision/sandbox';
import { createCodeConnector, createConnectors, type NodeOutputs } from '../src';
import { callOf, runOf } from './support';

const connectors = createConnectors({ connectors: [createCodeConnector({ threads: 1, maxRunMs: 10_000 })] });
/** For code that never ends by itself. */
const impatient = createConnectors({ connectors: [createCodeConnector({ threads: 1, maxRunMs: 300 })] });
afterAll(() => Promise.all([connectors.stop(), impatient.stop()]));

const run = (code: string, inputs: Readonly<Record<string, unknown>> = {}, bound = connectors): Promise<NodeOutputs> =>
  bound.callFor(runOf())(callOf('code', { code }, { inputs }));

const failure = (code: string, inputs: Readonly<Record<string, unknown>> = {}, bound = connectors): Promise<string> =>
  run(code, inputs, bound).then(
    (outputs) => `no failure but ${JSON.stringify(outputs)}`,
    (error: unknown) => (error as Error).message,
  );

describe('inputs and outputs', () => {
  it('CN-50: reads inputs, and answers outputs or the object that the code returns', async () => {
    await expect(run('outputs.sum = inputs.a + inputs.list[1]', { a: 1, list: [2, 3] })).resolves.toEqual({ sum: 4 });
    await expect(run('outputs = { sum: inputs.a }', { a: 1 })).resolves.toEqual({ sum: 1 });
    await expect(run('outputs.a = 1; return { b: "é😀", n: null, none: undefined }')).resolves.toEqual({
      b: 'é😀',
      n: null,
    });
    await expect(run('outputs.length = inputs.key.length', { key: new Secret('key', 'abc') })).resolves.toEqual({
      length: 3,
    });
    await expect(run('// nothing')).resolves.toEqual({});
    await expect(
      run('outputs.long = "[\\"".repeat(900_000)').then(({ long }) => (long as string).length),
    ).resolves.toBe(1_800_000);
  });

  it.each([
    'return 5',
    'return [1]',
    'return () => 1',
    'return null',
    'outputs = "text"',
    'return { toJSON: () => 3 }',
  ])('CN-50: refuses outputs that are not an object: %s', async (code) => {
    expect(await failure(code)).toMatch(/^The outputs of this code are not an object/);
  });

  it('CN-50: masks the exact value of a secret in the outputs', async () => {
    const inputs = { key: new Secret('key', 'marker-71c9') };
    await expect(run('outputs.header = `Bearer ${inputs.key}`', inputs)).resolves.toEqual({
      header: 'Bearer [secret]',
    });
    expect(await failure('throw new Error(inputs.key)', inputs)).toBe('This code failed in line 1: Error: [secret]');
  });
});

describe('the sandbox', () => {
  it('CN-51: has only the language itself', async () => {
    const names = [
      'process',
      'require',
      'module',
      'setTimeout',
      'setInterval',
      'queueMicrotask',
      'fetch',
      'console',
      'std',
      'os',
      'Worker',
      'WebAssembly',
      'Buffer',
      'print',
    ];
    const code = `outputs.seen = ${JSON.stringify(names)}.filter((name) => typeof globalThis[name] !== 'undefined')`;
    await expect(run(code)).resolves.toEqual({ seen: [] });
    expect(await failure("await import('node:fs')")).toMatch(/^This code failed/);
    await expect(
      run(
        "outputs.kind = typeof (function () { return this })().constructor.constructor('return globalThis')().process",
      ),
    ).resolves.toEqual({ kind: 'undefined' });
  });

  it('CN-52: gives each run a fresh context', async () => {
    const spoil = `
      Object.prototype.spoiled = 1; Object.prototype.toJSON = () => ({ spoiled: 2 }); JSON.stringify = () => '{"spoiled":3}';
      JSON.parse = null; Array.prototype.map = null; Promise.prototype.then = null; globalThis.kept = 4; Math.random = () => 5;
      Object.freeze(Object.prototype);`;
    await run(spoil).catch(() => undefined);
    await expect(
      run('outputs.seen = [({}).spoiled, typeof kept, [1].map((x) => x), JSON.parse("1")]'),
    ).resolves.toEqual({
      seen: [null, 'undefined', [1], 1],
    });
  });
});

describe('limits', () => {
  it.each([
    'for (;;) {}',
    'try { for (;;) {} } catch {} finally { for (;;) {} }',
    // Retains nothing, so that its time ends before its memory.
    'const again = () => void Promise.resolve().then(again); again(); await new Promise(() => {})',
    '/(a+)+$/.test("a".repeat(40) + "b")',
    'const a = []; a.length = 4294967295; outputs.n = a.indexOf(1)',
  ])('CN-53: ends code that runs too long, %#', async (code) => {
    expect(await failure(code, {}, impatient)).toMatch(/^This code ran longer than 300 ms of processor time/);
    await expect(run('outputs.ok = true', {}, impatient)).resolves.toEqual({ ok: true });
  });

  it.each([
    [
      'const kept = []; for (;;) kept.push(new Array(100000).fill(kept.length))',
      /needed more than 33554432 bytes of memory/,
    ],
    ['const again = () => again() + 1; again()', /nests or recurses too deep/],
    ['let list = []; for (let i = 0; i < 999; i++) list = [list]; outputs.list = list', /nests or recurses too deep/],
    ['let list = []; for (let i = 0; i < 5000; i++) list = [list]; outputs.list = list', /nests or recurses too deep/],
    ['return { text: "x".repeat(5000000) }', /take 5000011 characters as JSON, and the limit is 4194304/],
    ['return { text: "x".repeat(100 * 1024 * 1024) }', /needed more than 33554432 bytes of memory/],
    ['('.repeat(90_000), /nests or recurses too deep/],
  ])('CN-53: ends hostile code, %#', async (code, expected) => {
    expect(await failure(code)).toMatch(expected);
    await expect(run('outputs.ok = true')).resolves.toEqual({ ok: true });
  });

  it('CN-53: refuses inputs that take more than a quarter of the memory', async () => {
    expect(await failure('', { text: 'x'.repeat(9_000_000) })).toMatch(
      /^The inputs of this code take 9000011 characters/,
    );
  });

  it('CN-58: refuses runs when too many wait', async () => {
    const small = createConnectors({ connectors: [createCodeConnector({ threads: 1, maxRunMs: 200, maxWaiting: 1 })] });
    const endless = (): Promise<unknown> =>
      small
        .callFor(runOf())(callOf('code', { code: 'for (;;) {}' }))
        .catch((error: unknown) => (error as Error).message);
    const ends = await Promise.all([endless(), endless(), endless()]);
    await small.stop();
    expect(ends[2]).toMatch(/^1 runs of code wait for a thread already/);
    expect(ends.slice(0, 2)).toEqual(Array(2).fill(expect.stringMatching(/^This code ran longer/)));
  });
});

describe('promises, errors, chance', () => {
  it('CN-54: waits only for promises that the code settles', async () => {
    await expect(run('outputs.all = await Promise.all([1, Promise.resolve(2)])')).resolves.toEqual({ all: [1, 2] });
    expect(await failure('await new Promise(() => {})')).toMatch(/waits for a promise that nothing settles/);
    expect(await failure('return new Promise(() => {})')).toMatch(/waits for a promise that nothing settles/);
    expect(await failure('await Promise.reject(new RangeError("no"))')).toBe(
      'This code failed in line 1: RangeError: no',
    );
  });

  it.each([
    ['\n\nundefined.x', /^This code failed in line 3: TypeError: /],
    ['throw "text"', /^This code failed: text$/],
    ['throw { toString() { throw 1 } }', /^This code failed: something that has no text$/],
    ['throw new Error("x".repeat(2000))', /^This code failed in line 1: Error: x{493}$/],
    ['let a = ;', /^This code failed in line 1: /],
  ])('CN-55: says why code failed: %j', async (code, expected) => {
    expect(await failure(code)).toMatch(expected);
  });

  it('CN-56: draws the same random numbers when the same step runs again', async () => {
    const draw = (idempotencyRoot: string): Promise<unknown> =>
      connectors.callFor(runOf({ idempotencyRoot }))(
        callOf('code', { code: 'outputs.n = [Math.random(), Math.random()]' }),
      );
    const [first, again, other] = [await draw('a'), await draw('a'), await draw('b')];
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
    expect(first).toEqual({ n: [expect.any(Number), expect.any(Number)] });
  });
});

describe('findSyntaxFault', () => {
  it('CN-57: answers line, column and reason of the first syntax error, and nothing for valid code', async () => {
    await expect(findSyntaxFault('outputs.a = await 1;\nreturn outputs')).resolves.toBeUndefined();
    await expect(findSyntaxFault('let a = 1;\nlet b = ;')).resolves.toMatchObject({ line: 2, column: 9 });
    await expect(findSyntaxFault('if (true) {')).resolves.toMatchObject({ line: 1, column: 12 });
    await expect(findSyntaxFault('('.repeat(90_000))).resolves.toMatchObject({
      line: 1,
      message: expect.stringMatching(/deep/),
    });
    await expect(findSyntaxFault('1')).resolves.toBeUndefined();
  });
});
