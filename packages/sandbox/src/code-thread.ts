import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { beginJob, type CodeBatchMessage, type CodeThreadAnswer } from './code-batch';
import { openProcessorClock } from './processor-clock';
import { type CodeThreadStart, Sandbox } from './sandbox';

/*
 * The entry of one thread that runs code of nodes. It answers each job of a batch by itself, in order. It has no environment, and ends with
 * `terminate`.
 */

/**
 * Whatever handles messages goes first: 0 is usual, 19 the lowest. Code is held to its processor time, so that waiting for a processor costs it nothing of that. A
 * thread gets it once its engine is ready, since what waits for a thread to start has a deadline.
 */
const PRIORITY = 15;

const port = parentPort;
if (port === null) throw new TypeError('This is the entry of a thread, and not of a process.');
const clock = openProcessorClock();
const sandbox = new Sandbox((workerData as CodeThreadStart).memoryBytes, clock); // set by startCodeThread
let turn = sandbox.prepare().then(() => {
  // On Linux this is the priority of the calling thread alone.
  if (process.platform === 'linux') setPriority(PRIORITY);
});

const runBatch = async (batch: CodeBatchMessage): Promise<void> => {
  for (const [position, job] of batch.jobs.entries()) {
    // What an engine takes to start is no time of the job.
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
