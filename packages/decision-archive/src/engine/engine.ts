import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, realpath, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type Search } from '@decision/decision-logs';
import { settledWithin, withDeadline } from '@decision/waiting';
import { ArchiveError } from '../archive-error';
import { removeAbandoned } from '../own-folder';

/** What the process is started with. */
export interface EngineOptions {
  /** Its own folder. */
  readonly folder: string;
  /** Other folders that it may read. */
  readonly readable: readonly string[];
  /** Memory besides that of its runtime, bytes. */
  readonly memoryBytes: number;
  /** Bytes that it may write to its folder beyond that. */
  readonly spillBytes: number;
  readonly threads: number;
  /** Bytes of a row group, in addition to the bound on its rows; rows then stay in order only with one thread. Default: unbounded. */
  readonly groupBytes?: number;
}

/** Columns in their order, with the types that rows are read as. */
export type Columns = readonly (readonly [name: string, type: string])[];

/** Rows, one JSON line each, that become an object. */
interface WriteRequest {
  readonly kind: 'write';
  readonly columns: Columns;
  readonly rows: string;
  readonly object: string;
  /** Bytes of the longest line. */
  readonly longestLine: number;
}

/** Objects to merge: each row once, in order. */
interface MergeRequest {
  readonly kind: 'merge';
  readonly files: readonly string[];
  readonly object: string;
  /** Ids of decisions to leave out. */
  readonly without: readonly string[];
}

/** Objects with the same columns to concatenate. */
interface JoinRequest {
  readonly kind: 'join';
  readonly files: readonly string[];
  readonly object: string;
}

/** A statement with its values. Its function `holds(n, document)` tests a document against part `n` of `nodes`. */
export interface Question {
  readonly sql: string;
  readonly parameters: readonly (string | number | null)[];
  readonly nodes: readonly Search[];
}

export type EngineRequest = WriteRequest | MergeRequest | JoinRequest | (Question & { readonly kind: 'ask' });

/** `error`: why it failed. */
export type EngineAnswer =
  | { readonly error: string }
  | { readonly error?: undefined; readonly rows: readonly Readonly<Record<string, unknown>>[] };

interface OpenOptions extends Omit<EngineOptions, 'folder'> {
  /** The folder in which it makes its own. */
  readonly parent: string;
  /** Longest time of one request, ms: a process that takes longer is killed. */
  readonly deadlineMs: number;
  /** Requests that may wait. */
  readonly maxQueued: number;
}

/** Reads and writes Parquet in a separate process, one request at a time. */
export interface Engine {
  /** A folder of its own that its process may read and write; {@link makeFolder} makes it. */
  readonly folder: string;
  /** Makes the folder if it does not exist. Rejects if it cannot be made, for instance on a full disk. */
  makeFolder(): Promise<void>;
  /** Makes an object of rows. Rejects if its process fails, dies, or takes too long; the next request starts another. */
  write(request: Omit<WriteRequest, 'kind'>): Promise<void>;
  /** Merges several objects into one; answers how many rows it has. Rejects likewise. */
  merge(request: Omit<MergeRequest, 'kind'>): Promise<number>;
  /** Concatenates several objects without changes. Rejects likewise. */
  join(request: Omit<JoinRequest, 'kind'>): Promise<void>;
  /** Answers the rows of a statement, as JSON values: whole numbers of 64 bits are texts. Rejects likewise. */
  ask(question: Question): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Number of requests that are running or waiting. */
  waiting(): number;
  /** Ends the process and removes the folder. */
  stop(): Promise<void>;
}

/** How long a killed process may take to end, ms. */
const ENDING_MS = 5_000;

/** Kills a process, and resolves once it no longer writes. */
const ended = async (child: ChildProcess | undefined): Promise<void> => {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await settledWithin(once(child, 'exit'), ENDING_MS);
};

const extension = extname(__filename);
/** The loader of a process that runs from sources, as in tests; built code needs none. */
const SOURCE_LOADER = ['--require', '@decision/tooling/run-sources', '--conditions=source'];

const FOLDER = 'decision-archive-';

/**
 * Opens an engine; its process, and its folder, are made for the first request. Folders that killed processes left below `parent` are
 * removed. Rejects if `parent` does not exist and cannot be made.
 */
export const openEngine = async ({ parent, deadlineMs, maxQueued, ...options }: OpenOptions): Promise<Engine> => {
  await mkdir(parent, { recursive: true });
  const siblings = await realpath(parent);
  await removeAbandoned(siblings, FOLDER);
  const folder = join(siblings, `${FOLDER}${randomUUID()}`);
  const makeFolder = async (): Promise<void> => void (await mkdir(folder, { recursive: true, mode: 0o700 }));
  let child: ChildProcess | undefined;
  let stopped = false;
  const refuseIfStopped = (): void => {
    if (stopped) throw new ArchiveError('engine_failed', 'The engine of the archive has been stopped.');
  };
  const running = (): ChildProcess => {
    if (child?.connected === true && !child.killed && child.exitCode === null) return child;
    child = fork(join(__dirname, `engine-process${extension}`), [JSON.stringify({ ...options, folder })], {
      env: { TZ: 'UTC' },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: extension === '.ts' ? SOURCE_LOADER : [],
    });
    child.on('error', () => undefined); // Its end tells.
    return child;
  };
  const request = async (sent: EngineRequest): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    refuseIfStopped();
    await makeFolder();
    refuseIfStopped();
    const asked = running();
    const ending = new AbortController();
    const until = { signal: ending.signal };
    try {
      const answer = Promise.race([
        once(asked, 'message', until).then(([message]) => message as EngineAnswer), // its own process
        once(asked, 'exit', until).then((): EngineAnswer => ({ error: 'Its process has died' })),
      ]);
      asked.send(sent, () => undefined);
      const answered = await withDeadline(answer, deadlineMs, () => {
        asked.kill('SIGKILL');
        return new ArchiveError('too_long', `The engine of the archive took longer than ${deadlineMs} ms.`);
      });
      if (answered.error !== undefined)
        throw new ArchiveError('engine_failed', `The engine of the archive failed: ${answered.error}.`);
      return answered.rows;
    } finally {
      ending.abort();
    }
  };
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const inTurn = async (sent: EngineRequest): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    if (waiting > maxQueued)
      throw new ArchiveError('too_busy', `${waiting} requests already wait for the engine of the archive.`);
    waiting += 1;
    const answered = last.then(() => request(sent));
    last = answered.catch(() => undefined);
    try {
      return await answered;
    } finally {
      waiting -= 1;
    }
  };
  return {
    ...{ folder, makeFolder },
    write: async (sent) => void (await inTurn({ ...sent, kind: 'write' })),
    merge: async (sent) => {
      const [row] = await inTurn({ ...sent, kind: 'merge' });
      return Number(row?.['rows'] ?? 0);
    },
    join: async (sent) => void (await inTurn({ ...sent, kind: 'join' })),
    ask: (question) => inTurn({ ...question, kind: 'ask' }),
    waiting: () => waiting,
    stop: async () => {
      stopped = true;
      await ended(child);
      await last; // A request may just make the folder; those that waited are refused.
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** Engines that answer questions: each question goes to the engine with the fewest. At least one. */
export const poolOf = ([first, ...others]: readonly [Engine, ...Engine[]]): Pick<Engine, 'ask' | 'stop'> => ({
  ask: (question) =>
    others.reduce((idle, engine) => (engine.waiting() < idle.waiting() ? engine : idle), first).ask(question),
  stop: async () => {
    await Promise.all([first, ...others].map((engine) => engine.stop()));
  },
});
