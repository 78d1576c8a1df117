import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { type CodeJob, type CodeThreadStart, Sandbox } from './sandbox';

/*
 * The entry of one thread that runs code of nodes. It answers each job with one message, in order. It has no environment, and ends with `terminate`.
 */

/** Below whatever handles messages: 0 is usual, 19 the lowest. */
const PRIORITY = 10;

const port = parentPort;
if (port === null) throw new TypeError('This is the entry of a thread, and not of a process.');
// On Linux this is the priority of the calling thread alone.
if (process.platform === 'linux') setPriority(PRIORITY);

const sandbox = new Sandbox((workerData as CodeThreadStart).memoryBytes); // set by startCodeThread
let turn = Promise.resolve();
port.on('message', (job: CodeJob) => {
  turn = turn.then(async () => port.postMessage(await sandbox.run(job)));
});
