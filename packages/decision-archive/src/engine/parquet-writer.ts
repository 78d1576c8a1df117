import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type ParquetAnswer, type ParquetRequest } from './parquet-process';
import { ArchiveError } from '../archive-error';

interface ParquetWriterOptions {
  /** A folder for unfinished objects, which is made. */
  readonly folder: string;
  /** Memory of its process beside that of its runtime, and of what it may spill, bytes. */
  readonly memoryBytes: number;
  /** Longest time of one object, ms: a process that takes longer is killed. */
  readonly deadlineMs: number;
}

/** Writes Parquet in a process of its own, one object after the other. */
export interface ParquetWriter {
  /** A folder that its process may read and write, and no other has. */
  readonly folder: string;
  /** Makes an object of rows. Rejects where its process fails, dies, or takes too long; the next call starts another. */
  write(request: ParquetRequest): Promise<void>;
  /** Ends the process and removes the folder. */
  stop(): Promise<void>;
}

const extension = extname(__filename);
/** The loader of a process that is started from sources, as in tests; built code needs none. */
const SOURCE_LOADER = ['--require', '@decision/tooling/run-sources', '--conditions=source'];

/** Makes a writer; its process starts with the first object. Rejects where the folder cannot be made. */
export const openParquetWriter = async (options: ParquetWriterOptions): Promise<ParquetWriter> => {
  await mkdir(options.folder, { recursive: true });
  const folder = await mkdtemp(join(options.folder, 'archive-'));
  let child: ChildProcess | undefined;
  let stopped = false;
  const running = (): ChildProcess => {
    if (stopped) throw new ArchiveError('engine_failed', 'The writer of the archive has been stopped.');
    if (child?.connected === true && child.exitCode === null) return child;
    child = fork(join(__dirname, `parquet-process${extension}`), [folder, String(options.memoryBytes)], {
      env: { TZ: 'UTC' },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: extension === '.ts' ? SOURCE_LOADER : [],
    });
    child.on('error', () => undefined); // Its end tells.
    return child;
  };
  const ask = async (request: ParquetRequest): Promise<void> => {
    const asked = running();
    const signal = AbortSignal.timeout(options.deadlineMs);
    const ending = new AbortController();
    const until = { signal: AbortSignal.any([signal, ending.signal]) };
    try {
      const answer = Promise.race([
        once(asked, 'message', until).then(([message]) => message as ParquetAnswer), // its own process
        once(asked, 'exit', until).then((): ParquetAnswer => ({ error: 'Its process has died' })),
      ]);
      asked.send(request, () => undefined);
      const { error } = await answer;
      if (error !== undefined)
        throw new ArchiveError('engine_failed', `An object of the archive was not written: ${error}.`);
    } catch (error) {
      asked.kill('SIGKILL');
      if (!signal.aborted) throw error;
      throw new ArchiveError(
        'engine_failed',
        `An object of the archive was not written within ${options.deadlineMs} ms.`,
        { cause: error },
      );
    } finally {
      ending.abort();
    }
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    folder,
    write: (request) => {
      const written = last.then(() => ask(request));
      last = written.catch(() => undefined);
      return written;
    },
    stop: async () => {
      stopped = true;
      child?.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
};
