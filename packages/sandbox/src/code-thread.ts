import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { beginJob, type CodeBatchMessage, type CodeThreadAnswer } from './code-batch';
import { type CodeThreadStart, Sandbox } from './sandbox';

/*
 * The entry of one thread that runs code of nodes. It answers each job of a batch by itself, in order. It has no environment, and ends with
 * `terminate`.
 */

/** Below whatever handles messages: 0 is usual, 19 the lowest. */
const PRIORITY = 10;

const port = parentPort;
if (port === null) throw new TypeError('This is the entry of a thread, and not of a process.');
// On Linux this is the priority of the calling thread alone.
if (process.platform === 'linux') setPriority(PRIORITY);

const sandbox = new Sandbox((workerData as CodeThreadStart).memoryBytes); // set by startCodeThread
let turn = Promise.resolve();

const runBatch = async (batch: CodeBatchMessage): Promise<void> => {
  for (const [position, job] of batch.jobs.entries()) {
    // What an engine takes to start is no time of the job.
    await sandbox.prepare();
    const isWanted = beginJob(batch, position);
    if (isWanted === undefined) continue;
    const answer = await sandbox.run(job, isWanted);
    port.postMessage({ batch: batch.id, position, answer } satisfies CodeThreadAnswer);
  }
};

port.on('message', (batch: CodeBatchMessage) => {
  turn = turn.then(() => runBatch(batch));
});
