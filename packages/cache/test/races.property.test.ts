import fc from 'fast-check';
import { createWorld, type Window, type World, type WorldOptions } from './simulated-world';
import { runUntil, virtualNow } from './virtual-time';

// More than a day of simulated time passes in seconds, but a busy machine may need far longer.
jest.setTimeout(360_000);

const HOUR_MS = 3_600_000;
const PROCESSES = 3;

interface Action {
  readonly at: number;
  readonly process: number;
  readonly kind: 'read' | 'write';
}

interface Served {
  readonly version: number;
  readonly at: number;
}

/** Actions: few writes close together, with reads all around them; times in ms of virtual time. */
const between = (min: number, max: number): fc.Arbitrary<number> => fc.integer({ min, max });
const someOf = (kind: Action['kind'], at: fc.Arbitrary<number>, count: number): fc.Arbitrary<Action[]> =>
  fc.array(fc.record({ at, process: between(0, PROCESSES - 1), kind: fc.constant(kind) }), {
    minLength: count,
    maxLength: count,
  });
const actionsOf = (
  writesAt: fc.Arbitrary<number>,
  readsAt: fc.Arbitrary<number>,
  reads: number,
): fc.Arbitrary<Action[]> =>
  fc
    .tuple(
      between(1, 2).chain((writes) => someOf('write', writesAt, writes)),
      someOf('read', readsAt, reads),
    )
    .map((parts) => parts.flat());
const windowOf = (from: fc.Arbitrary<number>, longest: number): fc.Arbitrary<Window> =>
  fc.tuple(from, between(1, longest)).map(([start, length]) => ({ from: start, to: start + length }));

const seed = fc.integer();
/** A counterexample is reported by its seed; shrinking takes minutes and rarely makes it clearer. */
const runs = (numRuns: number) => ({ numRuns, endOnFailure: true });

/** Runs the actions up to `end` and answers what every read got and when. */
const play = async (
  options: WorldOptions,
  actions: readonly Action[],
  end: number,
  silent = false,
): Promise<[World, Served[]]> => {
  jest.useFakeTimers({ now: 0 });
  const world = createWorld(options);
  const served: Served[] = [];
  for (const action of actions) {
    setTimeout(() => {
      if (action.kind === 'write') void world.write(action.process, silent);
      else void world.read(action.process).then((version) => served.push({ version, at: virtualNow() }));
    }, action.at);
  }
  await runUntil(end);
  return [world, served];
};

/** Reads once more in every process. */
const lastReads = async (world: World): Promise<number[]> => {
  const reads = Promise.all(Array.from({ length: PROCESSES }, (_, index) => world.read(index)));
  await runUntil(virtualNow() + 10_000);
  return reads;
};

const base = {
  localTtlMs: HOUR_MS,
  sharedTtlMs: undefined,
  longestLoadMs: 5_000,
  pauses: [],
  clocksAhead: [0, 0, 0],
  deaf: [],
  cuts: [],
};

afterEach(() => void jest.useRealTimers());

describe('once the system is at rest, every process sees the last committed value', () => {
  const actions = actionsOf(between(3_000, 4_500), between(2_000, 7_000), 20);
  const deaf = fc.array(fc.tuple(between(0, PROCESSES - 1), windowOf(between(2_000, 4_000), 7_000)), { maxLength: 3 });
  const cuts = fc.array(fc.tuple(between(0, PROCESSES - 1), windowOf(between(2_000, 4_000), 8_000)), { maxLength: 3 });
  const pauses = fc.array(windowOf(between(2_000, 5_000), 6_000), { maxLength: 2 });

  it('holds without any TTL, whatever messages were lost while a process was disconnected', async () => {
    await fc.assert(
      fc.asyncProperty(seed, actions, deaf, async (aSeed, todo, deafWindows) => {
        const [world] = await play({ ...base, seed: aSeed, deaf: deafWindows }, todo, 20_000);
        const last = world.commits.length - 1;
        expect(await lastReads(world)).toEqual([last, last, last]);
      }),
      runs(600),
    );
  });

  it('after one local TTL, when the server paused and executed writes late, and connections were cut', async () => {
    await fc.assert(
      fc.asyncProperty(seed, actions, pauses, cuts, async (aSeed, todo, serverPauses, someCuts) => {
        const [world] = await play(
          { ...base, localTtlMs: 15_000, seed: aSeed, pauses: serverPauses, cuts: someCuts },
          todo,
          180_000,
        );
        const last = world.commits.length - 1;
        expect(await lastReads(world)).toEqual([last, last, last]);
      }),
      runs(600),
    );
  });
});

describe('with no invalidation at all, no value is served beyond its TTL', () => {
  const TTL_MS = 20_000;
  const LOAD_MS = 50;
  /** A reader gets its value at most this long after its load or fetch, ms. */
  const ON_THE_WAY_MS = 250;
  const actions = actionsOf(between(1_000, 2_000), between(0, 45_000), 15);
  const ttl = { ...base, localTtlMs: TTL_MS, sharedTtlMs: TTL_MS, longestLoadMs: LOAD_MS };

  const expectFresh = (world: World, served: readonly Served[]): void => {
    expect(served.length).toBeGreaterThan(0);
    for (const { version, at } of served) {
      const replacedAt = world.commits[version + 1] ?? Infinity;
      expect(at - replacedAt).toBeLessThan(TTL_MS + ON_THE_WAY_MS);
    }
  };

  it('even if the clocks of the processes differ', async () => {
    const ahead = between(-50_000, 50_000);
    await fc.assert(
      fc.asyncProperty(seed, actions, fc.tuple(ahead, ahead, ahead), async (aSeed, todo, clocksAhead) => {
        const [world, served] = await play({ ...ttl, seed: aSeed, clocksAhead }, todo, 55_000, true);
        expectFresh(world, served);
      }),
      runs(600),
    );
  });

  it('even if the server paused and executed writes late', async () => {
    const pauses = fc.array(windowOf(between(500, 30_000), 20_000), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(seed, actions, pauses, async (aSeed, todo, serverPauses) => {
        const [world, served] = await play({ ...ttl, seed: aSeed, pauses: serverPauses }, todo, 55_000, true);
        expectFresh(world, served);
      }),
      runs(600),
    );
  });
});
