import { Worker } from 'node:worker_threads';
import { createThreadPool, type ThreadEvent, type ThreadFaults, type ThreadPool } from './thread-pool';

const fault = (code: string, details = {}): Error => Object.assign(new Error(code), { code, details });
const faults: ThreadFaults = {
  tooMany: (limit) => fault('overloaded', { limit }),
  tooLate: () => fault('deadline_exceeded'),
  tooLong: (limitMs) => fault('evaluation_failed', { reason: 'took_too_long', limit_ms: limitMs }),
  ended: () => fault('internal_error'),
  stopped: () => fault('shutting_down'),
};

/** Answers a number with its double; certain texts make it block its thread for ever, or end it. */
const WORK = `
  const { parentPort, threadId } = require('node:worker_threads');
  parentPort.on('message', (job) => {
    if (job === 'for ever') for (;;) {}
    if (job === 'crash') throw new RangeError('no memory');
    parentPort.postMessage(typeof job === 'number' ? 2 * job : threadId);
  });
`;

let events: string[];
let pool: ThreadPool<unknown, unknown>;
const open = (changes: { size?: number; maxWaiting?: number; maxRunMs?: number } = {}): void => {
  events = [];
  pool = createThreadPool<unknown, unknown>({
    start: () => new Worker(WORK, { eval: true }),
    ...{ size: 1, maxWaiting: 10, maxRunMs: 300_000, ...changes },
    affinityOf: String,
    isPart: (job) => typeof job === 'number' && job >= 100,
    keptBytesOf: Number,
    onEvent: ({ type }: ThreadEvent) => events.push(type),
    faults,
  });
};
afterEach(() => pool.stop());

const LATER = 600_000;
const run = (job: unknown, withinMs = LATER): Promise<unknown> => pool.run(job, Date.now() + withinMs);

it('answers each job with its own answer, even if jobs wait for a thread', async () => {
  open();
  expect(pool.status()).toEqual({ threads: 0, busy: 0, waiting: 0, keptBytes: 0 });
  const answers = await Promise.all([1, 2, 3, 4].map((job) => run(job)));
  expect(answers).toEqual([2, 4, 6, 8]);
  expect(pool.status()).toEqual({ threads: 1, busy: 0, waiting: 0, keptBytes: 8 });
});

it('ends a thread that exceeds its time, reports it, and continues with another one', async () => {
  open({ maxRunMs: 100 });
  await expect(run('for ever')).rejects.toMatchObject({
    code: 'evaluation_failed',
    details: { reason: 'took_too_long', limit_ms: 100 },
  });
  expect(events).toEqual(['started', 'overran']);
  expect(pool.status().threads).toBe(0);
});

it('ends a thread at the deadline of its job', async () => {
  open();
  await expect(run('for ever', 50)).rejects.toMatchObject({ code: 'deadline_exceeded' });
  await expect(run(21)).resolves.toBe(42);
  expect(events).toEqual(['started', 'overran', 'started', 'finished']);
});

it('refuses a job beyond the queue, and one that waits until its deadline', async () => {
  open({ maxWaiting: 1 });
  const endless = run('for ever', 2_000);
  const waiting = run(1, 50);
  await expect(run(2)).rejects.toMatchObject({ code: 'overloaded', details: { limit: 1 } });
  await expect(waiting).rejects.toMatchObject({ code: 'deadline_exceeded' });
  expect(pool.status()).toMatchObject({ threads: 1, busy: 1, waiting: 0 });
  await expect(endless).rejects.toMatchObject({ code: 'deadline_exceeded' });
  await expect(pool.run(1, Date.now() - 1)).rejects.toMatchObject({ code: 'deadline_exceeded' });
});

it('lets parts and other jobs take turns at waiting, each in their own order', async () => {
  open();
  const ended: number[] = [];
  const jobs = [100, 101, 102, 103, 1, 2, 3, 4, 5];
  await Promise.all(jobs.map((job) => run(job).then(() => ended.push(job))));
  expect(ended).toEqual([100, 1, 101, 2, 102, 3, 103, 4, 5]);
});

it('counts parts among the jobs that wait, and refuses them when it stops', async () => {
  open({ maxWaiting: 2 });
  const running = run('for ever');
  const waiting = [run(100), run(1)];
  expect(pool.status().waiting).toBe(2);
  await expect(run(101)).rejects.toMatchObject({ code: 'overloaded', details: { limit: 2 } });
  const refused = [running, ...waiting].map((job) => expect(job).rejects.toMatchObject({ code: 'shutting_down' }));
  await pool.stop();
  await Promise.all(refused);
});

it('starts another thread after one has crashed', async () => {
  open();
  await expect(run('crash')).rejects.toMatchObject({ code: 'internal_error' });
  await expect(run(4)).resolves.toBe(8);
  expect(events).toEqual(['started', 'crashed', 'started', 'finished']);
});

it('gives a job to a free thread with the same affinity', async () => {
  open({ size: 2 });
  const [a, b] = await Promise.all([run('a'), run('b')]);
  expect(a).not.toBe(b);
  expect(await run('b')).toBe(b);
  expect(await run('a')).toBe(a);
});

it('finishes running jobs when it stops, and refuses waiting and new ones', async () => {
  open();
  const running = run(5);
  const waiting = run(6);
  const stopping = pool.stop(LATER);
  await expect(waiting).rejects.toMatchObject({ code: 'shutting_down' });
  await expect(run(7)).rejects.toMatchObject({ code: 'shutting_down' });
  await expect(running).resolves.toBe(10);
  await stopping;
  expect(pool.status()).toEqual({ threads: 0, busy: 0, waiting: 0, keptBytes: 0 });
});
