import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { range } from './beside-sql';
import { BenchmarkError } from './benchmark-error';
import { discountRule, makeOffers } from './context-workload';
import { latencies, median } from './measurement';
import { endWith } from './run-benchmark';
import { say } from './service-under-test';
import { type Checkout, checkOut, hasChanges, startVersion, type StartedVersion } from './started-version';

/*
 * Two versions, each with servers of its own, which take turns: single runs of one version differ more on a shared machine than most changes
 * make a difference. `duel <commit> [<commit>]`: the second is HEAD by default. The version that starts last is up to a fifth slower at first,
 * so that they start in one order for half of the rounds and in the other order for the rest.
 */

/** Rounds of each half. */
const ROUNDS = Math.ceil(Number(process.env['BENCH_ROUNDS'] ?? 8) / 2);
const SINGLES = Number(process.env['BENCH_SINGLES'] ?? 300);
const WARM_UPS = 4;

/** A call that both versions make. */
interface Call {
  readonly what: string;
  readonly atOnce: number;
  readonly make: () => Promise<unknown>;
}

/** One round of one call: milliseconds of half of the calls, and processor time of all processes for a call, ms. */
interface Turn {
  readonly p50: number;
  readonly processor: number;
}

/** `half` tells the contexts apart that the halves of the duel make. */
const callsOf = async ({ contexts, gateway, objects }: StartedVersion, half: number): Promise<readonly Call[]> => {
  const { slug } = await makeOffers(contexts, `Quotes ${half + 1}`);
  const rule = discountRule(slug);
  await objects('POST', '/admin/rules/import', { rule: { ...rule, _publish: true } });
  let submitted = 0;
  const submit = (): Promise<unknown> =>
    contexts('POST', `/contexts/${slug}/q-${submitted % 100}`, { total: 200 + (submitted += 1) });
  const solve = (): Promise<unknown> => gateway('POST', `/solve/${rule.slug}`, { total: 200 });
  return [1, 8].flatMap((atOnce) => [
    { what: `solve, ${atOnce} at once`, atOnce, make: solve },
    { what: `submission with a rule, ${atOnce} at once`, atOnce, make: submit },
  ]);
};

const measure = async (version: StartedVersion, { atOnce, make }: Call): Promise<Turn> => {
  const before = version.processorSeconds();
  const { p50 } = await latencies(SINGLES, atOnce, make);
  return { p50, processor: ((version.processorSeconds() - before) / SINGLES) * 1_000 };
};

/** Turns of both versions. */
type Turns = readonly [before: Turn[], after: Turn[]];

/** Adds turns of both versions, by call. They change who is first from round to round. */
const takeTurns = async (
  versions: readonly StartedVersion[],
  half: number,
  seen: Map<string, Turns>,
): Promise<void> => {
  const calls = await Promise.all(versions.map((version) => callsOf(version, half)));
  for (const round of range(ROUNDS + WARM_UPS)) {
    const sides = round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
    for (const [position, { what }] of (calls[0] ?? []).entries()) {
      const turns: Turns = seen.get(what) ?? [[], []];
      seen.set(what, turns);
      for (const side of sides) {
        const [version, call] = [versions[side], calls[side]?.[position]];
        if (version === undefined || call === undefined) throw new BenchmarkError('A duel needs two versions.');
        const turn = await measure(version, call);
        if (round >= WARM_UPS) turns[side].push(turn);
      }
    }
    const done =
      round < WARM_UPS ? `warm-up ${round + 1} of ${WARM_UPS}` : `round ${round - WARM_UPS + 1} of ${ROUNDS}`;
    say(`half ${half + 1}: ${done}`);
  }
};

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** The second version in terms of the first: the median over the rounds, and the rounds at a quarter and at three quarters. */
const compared = (before: readonly Turn[], after: readonly Turn[], of: (turn: Turn) => number): string => {
  const ratios = before
    .flatMap((turn, round) => {
      const other = after[round];
      return other === undefined ? [] : [of(other) / of(turn)];
    })
    .sort((a, b) => a - b);
  const at = (share: number): string => (ratios[Math.floor((ratios.length - 1) * share)] ?? Number.NaN).toFixed(2);
  const half = (ratios.length - 1) / 2;
  const middle = ((ratios[Math.floor(half)] ?? Number.NaN) + (ratios[Math.ceil(half)] ?? Number.NaN)) / 2;
  return `${middle.toFixed(2)} (${at(0.25)} to ${at(0.75)})`;
};

const report = (checkouts: readonly Checkout[], seen: ReadonlyMap<string, Turns>): void => {
  const [one = '', other = ''] = checkouts.map(({ commit }) => commit);
  const load = loadavg().map((part) => part.toFixed(1));
  print(`${cpus().length} cores, load ${load.join(' ')}; ${2 * ROUNDS} rounds of ${SINGLES} calls in turns\n`);
  print(
    `| calls | ${one}: p50, ms | ${other}: p50, ms | ratio | ${one}: processor, ms | ${other}: processor, ms | ratio |`,
  );
  print(`|${' --- |'.repeat(7)}`);
  for (const [what, [before, after]] of seen) {
    const columns = [(turn: Turn) => turn.p50, (turn: Turn) => turn.processor].flatMap((of) => [
      median(before.map(of)).toFixed(2),
      median(after.map(of)).toFixed(2),
      compared(before, after, of),
    ]);
    print(`| ${[what, ...columns].join(' | ')} |`);
  }
};

const duel = async (wanted: readonly string[]): Promise<void> => {
  const [before, after = 'HEAD'] = wanted;
  if (before === undefined || wanted.length > 2)
    throw new BenchmarkError(
      'Name the commit to compare with, and another one if it is not HEAD: duel <commit> [<commit>].',
    );
  if (hasChanges()) say('Changes that are not committed are not measured.');
  const directory = mkdtempSync(join(tmpdir(), 'decision-duel-'));
  const seen = new Map<string, Turns>();
  try {
    const checkouts = [before, after].map((name, side) => checkOut(name, join(directory, String(side))));
    for (const half of [0, 1]) await startBoth(checkouts, half, (versions) => takeTurns(versions, half, seen));
    report(checkouts, seen);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};

/** Starts both versions, in the second half the second one first, works with them in the order of the checkouts, and stops them. */
const startBoth = async (
  checkouts: readonly Checkout[],
  half: number,
  work: (versions: readonly StartedVersion[]) => Promise<void>,
): Promise<void> => {
  const started = new Map<Checkout, StartedVersion>();
  try {
    for (const checkout of half === 0 ? checkouts : [...checkouts].reverse()) {
      say(`${checkout.commit}: installing, building and starting`);
      started.set(checkout, await startVersion(checkout));
    }
    await work(checkouts.flatMap((checkout) => started.get(checkout) ?? []));
  } finally {
    await Promise.all([...started.values()].map((version) => version.stop()));
  }
};

endWith(duel(process.argv.slice(2)));
