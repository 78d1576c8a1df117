import { FairLine } from '../src/code/fair-line';
import { type Connectors, createCodeConnector, createConnectors, type NodeOutputs } from '../src';
import { callOf, runOf } from './support';

const ENDLESS = 'for (;;) {}';

let connectors: Connectors | undefined;
afterEach(() => connectors?.stop());

/** Code of a workspace; the time limit is a minute, so that only explicit stops end a run. */
const pool = (options: Parameters<typeof createCodeConnector>[0]) => {
  const bound = createConnectors({ connectors: [createCodeConnector({ maxRunMs: 60_000, ...options })] });
  connectors = bound;
  return (code: string, workspaceId = 'w1', signal = new AbortController().signal): Promise<NodeOutputs | string> =>
    bound
      .callFor(runOf({ workspaceId }))(callOf('code', { code }, { signal }))
      .catch((error: unknown) => (error as Error).message);
};

describe('a batch of runs', () => {
  it('CN-52, CN-59: gives each run of a batch its own context', async () => {
    const run = pool({ threads: 1 });
    const code =
      "outputs.seen = [typeof kept, ({}).kept === undefined]; globalThis.kept = 1; Object.prototype.kept = 1; Object.prototype.toJSON = () => ''; Array.prototype[0] = 5";
    const clean =
      'const seen = [typeof kept, ({}).kept === undefined, [][0] === undefined]; globalThis.kept = 1; Object.prototype.kept = 1; Array.prototype[0] = 5; outputs.seen = "" + seen';
    const seen = await Promise.all(Array.from({ length: 40 }, (_, index) => run(index % 2 === 0 ? clean : code)));
    expect(seen.filter((_, index) => index % 2 === 0)).toEqual(Array(20).fill({ seen: 'undefined,true,true' }));
  });

  it('CN-59: fails only the run that exceeds a limit', async () => {
    const run = pool({ threads: 1, maxRunMs: 1_500 });
    const hostile = [
      ENDLESS,
      'const a = []; a.length = 4294967295; outputs.n = a.indexOf(1)',
      'const kept = []; for (;;) kept.push(new Array(100000).fill(kept.length))',
      'return { text: "x".repeat(100 * 1024 * 1024) }',
      'const again = () => again() + 1; again()',
      'await new Promise(() => {})',
      'Object.prototype.toJSON = () => 1; throw { toString() { throw 1 } }',
    ];
    const codes = hostile.flatMap((code, index) => [`outputs.n = ${index}`, code]);
    const ends = await Promise.all(codes.map((code) => run(code)));
    expect(ends.filter((_, index) => index % 2 === 0)).toEqual(hostile.map((_, n) => ({ n })));
    expect(ends.filter((_, index) => index % 2 === 1)).toEqual([
      expect.stringMatching(/^This code ran longer than 1500 ms of processor time/),
      expect.stringMatching(/did not stop when asked to/),
      expect.stringMatching(/needed more than/),
      expect.stringMatching(/needed more than/),
      expect.stringMatching(/too deep/),
      expect.stringMatching(/waits for a promise/),
      expect.stringMatching(/^This code failed: something that has no text/),
    ]);
  });

  it('CN-59: moves the runs behind a long one to another thread, and answers the runs before it', async () => {
    const run = pool({ threads: 2 });
    const quick = (count: number) => Array.from({ length: count }, (_, n) => run(`outputs.n = ${n}`));
    const before = quick(6);
    const endless = run(ENDLESS);
    const behind = quick(25);
    await expect(Promise.all([...before, ...behind])).resolves.toHaveLength(31);
    await connectors?.stop();
    await expect(endless).resolves.toMatch(/stop/);
  });

  it('CN-53: stops a run that nobody needs, and never begins one that has not begun', async () => {
    const run = pool({ threads: 1 });
    const end = new AbortController();
    const endless = Array.from({ length: 5 }, () => run(ENDLESS, 'w1', end.signal));
    setImmediate(() => end.abort());
    await expect(Promise.all(endless)).resolves.toEqual(Array(5).fill('The flow no longer needs its answer.'));
    await expect(run('outputs.ok = true')).resolves.toEqual({ ok: true });
  });
});

describe('the waiting line', () => {
  it('CN-59: gives one workspace its turn after one run of another that uses all of its time', async () => {
    const run = pool({ threads: 1, maxRunMs: 100 });
    let ended = 0;
    const flood = Array.from({ length: 12 }, () => run(ENDLESS, 'w1').then(() => (ended += 1)));
    const seen = await Promise.all(Array.from({ length: 10 }, () => run('outputs.ok = true', 'w2').then(() => ended)));
    // The run that had begun, and one more if the first answer came while that ran.
    expect(Math.max(...seen)).toBeLessThanOrEqual(2);
    await Promise.all(flood);
    expect(ended).toBe(12);
  });

  it('CN-58: refuses a run of the workspace with the most waiting runs', async () => {
    const run = pool({ threads: 1, maxRunMs: 100, maxWaiting: 3 });
    const flood = Array.from({ length: 5 }, () => run(ENDLESS, 'w1'));
    const other = run('outputs.ok = true', 'w2');
    const ends = await Promise.all(flood);
    await expect(other).resolves.toEqual({ ok: true });
    const refused = expect.stringMatching(/^3 runs of code wait for a thread already/);
    const ran = expect.stringMatching(/^This code ran longer/);
    // One runs and three wait; the fifth is refused on arrival, and the last waiting one when the other workspace arrives.
    expect(ends).toEqual([ran, ran, ran, refused, refused]);
  });
});

describe('FairLine', () => {
  const task = (name: string) => ({ name, owner: name[0] ?? '', run: name.slice(0, 2) });
  const lineOf = (...names: readonly string[]) => {
    const line = new FairLine<ReturnType<typeof task>>();
    const tasks = new Map(names.map((name) => [name, task(name)]));
    for (const one of tasks.values()) line.add(one);
    return { line, of: (name: string) => tasks.get(name) ?? task(name) };
  };
  const names = (tasks: readonly { readonly name: string }[]): string => tasks.map(({ name }) => name).join(' ');

  it('takes the runs of one owner in turns', () => {
    const { line } = lineOf('a1x', 'a1y', 'a1z', 'a2x', 'a2y', 'b1x');
    expect(names(line.take(() => 4))).toBe('a1x a2x a1y a2y');
    expect(line.size).toBe(2);
  });

  it('takes the owner whose tasks have taken the least time', () => {
    const { line, of } = lineOf('a1x', 'a1y', 'a1z', 'b1x', 'b1y');
    expect(names(line.take(() => 1))).toBe('a1x');
    line.ended(of('a1x'), 1_000);
    expect(names(line.take(() => 1))).toBe('b1x');
    line.ended(of('b1x'), 10);
    expect(names(line.take(() => 1))).toBe('b1y');
    line.ended(of('b1y'), 10);
    expect(names(line.take(() => 9))).toBe('a1y a1z');
  });

  it('gives an idle owner no credit', () => {
    const { line, of } = lineOf('a1x', 'a1y', 'a1z');
    for (const name of ['a1x', 'a1y']) {
      line.take(() => 1);
      line.ended(of(name), 100);
    }
    line.add(task('b1x'));
    line.add(task('b1y'));
    const [first] = line.take(() => 1);
    expect(first?.name).toBe('b1x');
    line.ended(of('b1x'), 101);
    expect(names(line.take(() => 1))).toBe('a1z');
  });

  it('puts tasks that were taken back ahead of waiting ones, and finds the one that gives way', () => {
    const { line, of } = lineOf('a1x', 'a1y', 'a1z', 'b1x');
    line.putBack(line.take(() => 2));
    expect(line.leastDue('a')).toBeUndefined();
    expect(line.leastDue('b')?.name).toBe('a1z');
    expect(line.leastDue('c')?.name).toBe('a1z');
    expect(line.remove(of('a1z'))).toBe(true);
    expect(line.remove(of('a1z'))).toBe(false);
    expect(names(line.take(() => 9))).toBe('a1x a1y');
    expect(names(line.clear())).toBe('b1x');
    expect(line.size).toBe(0);
  });
});
