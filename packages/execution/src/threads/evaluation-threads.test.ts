import { Worker } from 'node:worker_threads';
import { createEvaluationThreads, type EvaluationThreads } from './evaluation-threads';
import { type EvaluationJob } from './thread-messages';

/** Holds its thread for ever, or ends it, as an input says; answers the inputs before it, and of many at most those that a slice has. */
const WORK = `
  const { parentPort } = require('node:worker_threads');
  const SLICE = 3;
  parentPort.on('message', ({ requests, begun }) => {
    if (requests[0] === 'endless load') for (;;) {}
    const results = [];
    for (const [index, request] of requests.entries()) {
      if (begun) Atomics.store(begun, 0, index);
      if (request === 'crash') throw new RangeError('no memory');
      if (request === 'endless') for (;;) {}
      results.push(JSON.stringify(request));
      if (results.length === SLICE) break;
    }
    const ends = Uint32Array.from(results, (_, index) => index + 1);
    const solved = { results: results.join('\\n'), matched: Float64Array.from(ends), matchedEnds: ends, durationsUs: Float64Array.from(ends) };
    parentPort.postMessage({ solved: { ...solved, errors: new Map() }, compiledBytes: 0 });
  });
`;

let threads: EvaluationThreads;
let jobs: (readonly string[])[];
const open = (maxRunMs: number): void => {
  jobs = [];
  threads = createEvaluationThreads({
    start: () => {
      const worker = new Worker(WORK, { eval: true });
      const post = worker.postMessage.bind(worker);
      worker.postMessage = (job: { readonly requests: readonly string[] }) => {
        jobs.push(job.requests);
        post(job);
      };
      return worker;
    },
    size: 1,
    maxWaiting: 1,
    maxRunMs,
    onEvent: () => undefined,
  });
};
afterEach(() => threads.stop());

const settings = { workspaceId: 'w', versionId: 'v', now: 0, explain: 'none' } as const;
const solve = (request: string, withinMs: number): Promise<unknown> => {
  const job: EvaluationJob = { ...settings, request };
  return threads.solve(job, Date.now() + withinMs);
};
const solveFirst = (requests: readonly string[], withinMs = 60_000) =>
  threads.solveFirst({ ...settings, requests }, Date.now() + withinMs);

it('says why an evaluation ended: a crash, its run time, its deadline, the queue, or the stop', async () => {
  open(2_000);
  await expect(solve('crash', 60_000)).rejects.toMatchObject({ code: 'internal_error' });
  await expect(solve('endless', 60_000)).rejects.toMatchObject({
    code: 'evaluation_failed',
    details: { reason: 'took_too_long', limit_ms: 2_000 },
  });
  const running = solve('endless', 500);
  const waiting = solve('endless', 60_000);
  await expect(solve('endless', 60_000)).rejects.toMatchObject({ code: 'overloaded', details: { limit: 1 } });
  await expect(running).rejects.toMatchObject({ code: 'deadline_exceeded' });
  await expect(waiting).rejects.toMatchObject({ code: 'evaluation_failed' });
  await threads.stop();
  await expect(solve('endless', 60_000)).rejects.toMatchObject({ code: 'shutting_down' });
});

describe('several inputs in one job', () => {
  it('are bounded by their number and by their characters, and one that is longer goes alone', async () => {
    open(60_000);
    await solveFirst(Array.from({ length: 1_001 }, () => 'x'));
    await solveFirst(Array.from({ length: 10 }, () => 'x'.repeat(100_000)));
    await solveFirst(['x'.repeat(300_000), 'x']);
    expect(jobs.map(({ length }) => length)).toEqual([1_000, 2, 1]);
  });

  it('are answered in their order as far as the thread came', async () => {
    open(60_000);
    const answers = await solveFirst(['a', 'b', 'c', 'd']);
    expect(answers.map(({ request, result }) => [request, result])).toEqual([
      ['a', '"a"'],
      ['b', '"b"'],
      ['c', '"c"'],
    ]);
    expect(answers).toMatchObject([
      { matched: [1], durationUs: 1 },
      { matched: [2], durationUs: 2 },
      { matched: [3], durationUs: 3 },
    ]);
  });

  it.each([
    ['endless', { code: 'evaluation_failed', details: { reason: 'took_too_long', limit_ms: 2_000 } }],
    ['crash', { code: 'internal_error' }],
  ])('answers the failure of %j in its place, and evaluates those before it again', async (bad, error) => {
    open(2_000);
    const answers = await solveFirst(['a', 'b', bad, 'c']);
    expect(answers.slice(0, 2)).toMatchObject([{ result: '"a"' }, { result: '"b"' }]);
    expect(answers[2]).toMatchObject({ request: bad, error });
    expect(answers).toHaveLength(3);
    expect(await solveFirst(['c'])).toMatchObject([{ result: '"c"', error: undefined }]);
    expect(jobs).toEqual([['a', 'b', bad, 'c'], ['a', 'b'], ['c']]);
  });

  it('fail together at their deadline, if the rule cannot be loaded in time, and if too many jobs wait', async () => {
    open(2_000);
    await expect(solveFirst(['a', 'endless'], 1_000)).rejects.toMatchObject({ code: 'deadline_exceeded' });
    const loading = solveFirst(['endless load', 'a']);
    const waiting = solveFirst(['a']);
    await expect(solveFirst(['b'])).rejects.toMatchObject({ code: 'overloaded' });
    await expect(loading).rejects.toMatchObject({ code: 'evaluation_failed', details: { reason: 'took_too_long' } });
    await expect(waiting).resolves.toHaveLength(1);
  });
});
