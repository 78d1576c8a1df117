import { type FileHandle, open, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DecisionItemRecord } from '@decision/decision-logs';
import { ArchiveError } from '../archive-error';
import { type Engine, openEngine } from '../engine/engine';
import { EXPORT_COLUMNS, type ExportRowOptions, exportRowsOf } from './export-rows';

interface WriteOptions extends ExportRowOptions {
  /** The folder below which the file is made. */
  readonly parent: string;
  /** Memory of the process that writes it, besides that of its runtime, bytes. */
  readonly memoryBytes: number;
  /** Maximum size of the file. About twice as much is written to the disk meanwhile. */
  readonly mostBytes: number;
  /** Longest time of one step of the process, ms. */
  readonly deadlineMs: number;
  /** Ends the work. */
  readonly signal: AbortSignal;
}

const MIB = 1_048_576;
/** Bytes of lines in one part; the items of one decision are never divided. */
const PART_BYTES = 16 * MIB;
/** Bytes of a row group: the process holds several times as much, for the group and its compression. */
const GROUP_BYTES = 16 * MIB;

/**
 * Writes decisions with their items into one Parquet file, in a process of its own. The file in the answer is open and already unlinked:
 * nothing of it remains once it is closed or this process dies. Rejects with the error of the decisions, with the reason of the signal, and
 * with `ArchiveError`: `too_large` beyond `mostBytes`, `too_long` after the deadline, `engine_failed`.
 */
export const writeParquet = async (
  decisions: AsyncIterable<readonly DecisionItemRecord[]>,
  options: WriteOptions,
): Promise<FileHandle> => {
  const { parent, memoryBytes, mostBytes, deadlineMs, signal } = options;
  signal.throwIfAborted();
  const bounds = { memoryBytes, spillBytes: memoryBytes, groupBytes: GROUP_BYTES, threads: 1, deadlineMs };
  const engine = await openEngine({ ...bounds, parent, readable: [], maxQueued: 1 }).catch(unwritable);
  // Its request then rejects; leftovers are removed below.
  const cut = (): void => void engine.stop().catch(() => undefined);
  signal.addEventListener('abort', cut);
  try {
    await engine.makeFolder().catch(unwritable);
    const parts: string[] = [];
    let bytes = 0;
    for await (const lines of partsOf(decisions, options)) {
      signal.throwIfAborted();
      const part = await writePart(engine, parts.length, lines);
      bytes += (await stat(part)).size;
      if (bytes > mostBytes) throw new ArchiveError('too_large', `A Parquet file has ${mostBytes} bytes at most.`);
      parts.push(part);
    }
    return await open(await joined(engine, parts));
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', cut);
    await engine.stop();
  }
};

/** Lines of parts; there is a first one even without a decision. */
async function* partsOf(
  decisions: AsyncIterable<readonly DecisionItemRecord[]>,
  options: ExportRowOptions,
): AsyncGenerator<readonly Buffer[], void, undefined> {
  let lines: Buffer[] = [];
  let bytes = 0;
  let isFirst = true;
  for await (const items of decisions) {
    const rows = exportRowsOf(items, options).map((row) => Buffer.from(`${row}\n`));
    const size = rows.reduce((sum, { length }) => sum + length, 0);
    if (lines.length > 0 && bytes + size > PART_BYTES) {
      yield lines;
      isFirst = false;
      [lines, bytes] = [[], 0];
    }
    for (const row of rows) lines.push(row);
    bytes += size;
  }
  if (isFirst || lines.length > 0) yield lines;
}

const writePart = async (engine: Engine, number: number, lines: readonly Buffer[]): Promise<string> => {
  const part = join(engine.folder, `part-${number}.parquet`);
  const rows = `${part}.json`;
  await writeFile(rows, lines, { mode: 0o600 }).catch(unwritable);
  const longestLine = lines.reduce((longest, { length }) => Math.max(longest, length), 0);
  await engine.write({ columns: EXPORT_COLUMNS, rows, object: part, longestLine });
  await rm(rows);
  return part;
};

/** Throws errors about a full disk or a missing folder. */
const unwritable = (error: NodeJS.ErrnoException): never => {
  const reason = error.code ?? error.message;
  throw new ArchiveError('engine_failed', `A Parquet file cannot be written (${reason}).`, { cause: error });
};

const joined = async (engine: Engine, [first = '', ...others]: readonly string[]): Promise<string> => {
  if (others.length === 0) return first;
  const object = join(engine.folder, 'whole.parquet');
  await engine.join({ files: [first, ...others], object });
  return object;
};
