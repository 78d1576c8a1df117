import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type CodeThreadStart } from './sandbox';

/** The stack of a thread, MB: the engine uses more of it than it counts. */
const STACK_MB = 2;
/** The heap of a thread besides the memory of its engine, MB. */
const HEAP_MB = 256;
/** The loader of a thread that runs from sources, as in tests; built code needs none. */
const SOURCE_LOADER = ['--require', '@decision/tooling/run-sources', '--conditions=source'];

/** Starts a thread that runs code; it sees neither the environment nor the arguments of its process. */
export const startCodeThread = (start: CodeThreadStart): Worker => {
  const extension = extname(__filename);
  return new Worker(join(__dirname, `code-thread${extension}`), {
    workerData: start,
    env: {},
    argv: [],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, stackSizeMb: STACK_MB },
    ...(extension === '.ts' ? { execArgv: SOURCE_LOADER } : {}),
  });
};
