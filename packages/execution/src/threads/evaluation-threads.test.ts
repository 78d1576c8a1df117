import { Worker } from 'node:worker_threads';
import { createEvaluationThreads, type EvaluationJob, type EvaluationThreads } from './evaluation-threads';

/** Blocks its thread for ever, or ends it, depending on the request. */
const WORK = `
  require('node:worker_threads').parentPort.on('message', ({ request }) => {
    if (request === 'crash') throw new RangeError('no memory');
    for (;;) {}
  });
`;

let threads: EvaluationThreads;
const open = (maxRunMs: number): void => {
  threads = createEvaluationThreads({
    start: () => new Worker(WORK, { eval: true }),
    size: 1,
    maxWaiting: 1,
    maxRunMs,
    onEvent: () => undefined,
  });
};
afterEach(() => threads.stop());

const solve = (request: string, withinMs: number): Promise<unknown> => {
  const job: EvaluationJob = { workspaceId: 'w', versionId: 'v', request, now: 0, explain: 'none' };
  return threads.solve(job, Date.now() + withinMs);
};

it('says why an evaluation ended: a crash, its run time, its deadline, the queue, or the stop', async () => {
  open(200);
  await expect(solve('crash', 60_000)).rejects.toMatchObject({ code: 'internal_error' });
  await expect(solve('endless', 60_000)).rejects.toMatchObject({
    code: 'evaluation_failed',
    details: { reason: 'took_too_long', limit_ms: 200 },
  });
  const running = solve('endless', 100);
  const waiting = solve('endless', 60_000);
  await expect(solve('endless', 60_000)).rejects.toMatchObject({ code: 'overloaded', details: { limit: 1 } });
  await expect(running).rejects.toMatchObject({ code: 'deadline_exceeded' });
  await expect(waiting).rejects.toMatchObject({ code: 'evaluation_failed' });
  await threads.stop();
  await expect(solve('endless', 60_000)).rejects.toMatchObject({ code: 'shutting_down' });
});
