import { type FileHandle } from 'node:fs/promises';
import { type ExportDecisionsQuery, ServiceError } from '@decision/contracts';
import { ArchiveError, writeParquet } from '@decision/decision-archive';
import { type Logger } from '@decision/service-kit';
import { exportItems, type ExportOptions } from './export-decisions';

interface FileOptions extends ExportOptions {
  readonly limits: ExportOptions['limits'] & {
    /** Maximum bytes of a file. */
    readonly fileBytes: number;
  };
  /** The folder below which it is made. */
  readonly folder: string;
  /** Memory of the process that writes it, bytes. */
  readonly memoryBytes: number;
  /** Ends the work, since nobody waits for it. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** Longest time of one step of the process that writes the file, ms. */
const STEP_DEADLINE_MS = 120_000;
/** Bytes of the file that are read at once. */
const PIECE_BYTES = 262_144;

/**
 * All decisions of an export as one Parquet file, one row per input. The first bytes come once it is complete, so errors are thrown before.
 * Throws as `exportItems` does, and `result_too_large` for too many bytes, with the moment at which to split the export; `export_failed` if
 * the file cannot be written.
 */
export async function* parquetOf(
  query: ExportDecisionsQuery,
  options: FileOptions,
): AsyncGenerator<Buffer, void, undefined> {
  const file = await writeFileOf(query, options);
  try {
    const pieces = file.createReadStream({ highWaterMark: PIECE_BYTES, autoClose: false });
    for await (const piece of pieces) yield piece as Buffer; // no encoding was set
  } finally {
    await file.close();
  }
}

const writeFileOf = async (query: ExportDecisionsQuery, options: FileOptions): Promise<FileHandle> => {
  const { access, limits, folder, memoryBytes, signal } = options;
  let reached = '';
  async function* noted(): ReturnType<typeof exportItems> {
    for await (const items of exportItems(query, options)) {
      reached = items[0].decidedAt;
      yield items;
    }
  }
  try {
    return await writeParquet(noted(), {
      ...{ workspaceId: access.workspaceId, hidesKeys: access.userGroups !== undefined, parent: folder },
      ...{ memoryBytes, mostBytes: limits.fileBytes, deadlineMs: STEP_DEADLINE_MS, signal },
    });
  } catch (error) {
    throw told(error, reached, options);
  }
};

/** Nothing was sent, so the export must be requested in parts: before a moment, and from it on. */
const told = (error: unknown, reached: string, { limits, logger }: FileOptions): unknown => {
  if (error instanceof ServiceError) {
    const { limit, start } = error.details as { readonly limit?: number; readonly start?: string };
    if (start === undefined) return error;
    const [sentence] = error.message.split('. ');
    return new ServiceError(
      error.code,
      `${String(sentence)}. ${inParts(start)}`,
      { ...(limit === undefined ? {} : { limit }), end: start },
      { cause: error },
    );
  }
  if (!(error instanceof ArchiveError)) return error;
  if (error.code === 'too_large') {
    const sentence = `A Parquet file has ${limits.fileBytes} bytes at most. ${inParts(reached)}`;
    return new ServiceError('result_too_large', sentence, { limit: limits.fileBytes, end: reached }, { cause: error });
  }
  logger.error({ err: error }, 'A Parquet file could not be written.');
  return new ServiceError(
    'export_failed',
    'The Parquet file could not be written, and nothing was sent. Ask for a shorter time, or for format=ndjson; the log of the collector says what went wrong.',
    {},
    { cause: error },
  );
};

const inParts = (moment: string): string =>
  `Nothing was sent. Request it in parts: with end=${moment}, and then with start=${moment}.`;
