import { exportDecisions as operation, type ExportDecisionsQuery, ServiceError } from '@decision/contracts';
import { accessOf } from '@decision/infrastructure';
import { bindOperation, type BoundOperation, BytesAnswer, LinesAnswer, type Logger } from '@decision/service-kit';
import { CSV_HEADER, toCsvRow } from '../queries/decisions-csv';
import { parquetOf } from '../queries/decisions-parquet';
import { type DecisionStore } from '../queries/decision-store';
import { exportDecisions, readExportFilters } from '../queries/export-decisions';

/** The operation of the call. */
const LIMITS = { decisions: 1_000_000, durationMs: 600_000, fileBytes: 1_073_741_824 };
/** Maximum concurrent exports of a process; each reads a page into memory. */
const MOST_AT_ONCE = 4;
/** Maximum of these that are written as Parquet, each by its own process. */
const MOST_FILES_AT_ONCE = 2;
const RETRY_AFTER_S = 10;

interface ExportRoutesOptions {
  readonly store: DecisionStore;
  readonly logger: Logger;
  /** The folder below which Parquet files are made. */
  readonly fileFolder: string;
  /** Memory of a process that writes a Parquet file, bytes. */
  readonly fileMemoryBytes: number;
}

/** The call GET /api/v1/decisions/export. */
export const exportRoutes = ({
  store,
  logger,
  fileFolder,
  fileMemoryBytes,
}: ExportRoutesOptions): readonly BoundOperation[] => {
  const oneOfFew = limited(MOST_AT_ONCE, 'exports');
  const oneOfFiles = limited(MOST_FILES_AT_ONCE, 'exports as Parquet');
  return [
    bindOperation(operation, ({ identity, query, context }) => {
      readExportFilters(query, Date.now());
      const options = { store, access: accessOf(identity), limits: LIMITS, now: Date.now };
      const headers = headersOf(query);
      if (query.format !== 'parquet')
        return Promise.resolve(new LinesAnswer(oneOfFew(linesOf(query, exportDecisions(query, options))), { headers }));
      const { signal } = context;
      const file = parquetOf(query, { ...options, folder: fileFolder, memoryBytes: fileMemoryBytes, signal, logger });
      return Promise.resolve(new BytesAnswer(oneOfFew(oneOfFiles(file)), { headers }));
    }),
  ];
};

/** Bounds concurrent runs; starting one more throws `overloaded`. */
const limited = (most: number, what: string) => {
  let running = 0;
  return async function* <T>(pieces: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    if (running >= most) {
      const sentence = `This process writes ${most} ${what} already. Try again in ${RETRY_AFTER_S} s.`;
      throw new ServiceError('overloaded', sentence, { retry_after_seconds: RETRY_AFTER_S });
    }
    running += 1;
    try {
      yield* pieces;
    } finally {
      running -= 1;
    }
  };
};

type Entries = ReturnType<typeof exportDecisions>;

async function* linesOf({ format }: ExportDecisionsQuery, entries: Entries): AsyncGenerator<string, void, undefined> {
  let isFirst = format === 'csv';
  for await (const entry of entries) {
    if (isFirst) yield CSV_HEADER;
    isFirst = false;
    yield format === 'csv' ? toCsvRow(entry) : JSON.stringify(entry);
  }
  if (isFirst) yield CSV_HEADER;
}

const CONTENT_TYPES = { csv: 'text/csv; charset=utf-8; header=present', parquet: 'application/vnd.apache.parquet' };

const headersOf = ({ format = 'ndjson' }: ExportDecisionsQuery): Record<string, string> => ({
  'content-disposition': `attachment; filename="decisions.${format}"`,
  ...(format === 'ndjson' ? {} : { 'content-type': CONTENT_TYPES[format] }),
});
