import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { beginJob, type CodeBatchMessage, type CodeThreadAnswer } from './code-batch';
import { openProcessorClock } from './processor-clock';
import { type CodeThreadStart, Sandbox } from './sandbox';

/*
 * The entry of one thread that runs code of nodes. It answers each job of a batch separately, in order. It has no environment, and ends
 * with `terminate`.
 */

/**
 * Scheduling priority below that of threads that handle messages: 0 is normal, 19 the lowest. Only processor time counts for code, so
 * waiting for a processor costs it nothing. A thread lowers its priority once its engine is ready, since jobs that wait for a thread to
 * start have a deadline.
 */
const PRIORITY = 15;

const port = parentPort;
if (port === null) throw new TypeError('This is the entry of a thread, not of a process.');
const clock = openProcessorClock();
const sandbox = new Sandbox((workerData as CodeThreadStart).memoryBytes, clock); // set by startCodeThread
let turn = sandbox.prepare().then(() => {
  // On Linux this is the priority of the calling thread alone.
  if (process.platform === 'linux') setPriority(PRIORITY);
});

const runBatch = async (batch: CodeBatchMessage): Promise<void> => {
  for (const [position, job] of batch.jobs.entries()) {
    // The start of an engine does not count as time of the job.
    await sandbox.prepare();
    const isWanted = beginJob(batch, position, clock);
    if (isWanted === undefined) continue;
    const answer = await sandbox.run(job, isWanted);
    port.postMessage({ batch: batch.id, position, answer } satisfies CodeThreadAnswer);
  }
};

port.on('message', (batch: CodeBatchMessage) => {
  turn = turn.then(() => runBatch(batch));
});
