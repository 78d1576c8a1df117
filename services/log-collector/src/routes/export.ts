import { exportDecisions as operation, type ExportDecisionsQuery, ServiceError } from '@decision/contracts';
import { accessOf } from '@decision/infrastructure';
import { bindOperation, type BoundOperation, LinesAnswer } from '@decision/service-kit';
import { CSV_HEADER, toCsvRow } from '../queries/decisions-csv';
import { type DecisionStore } from '../queries/decision-store';
import { exportDecisions, type ExportLimits, readExportFilters } from '../queries/export-decisions';

/** What the description of the call says. */
const LIMITS: ExportLimits = { decisions: 1_000_000, durationMs: 600_000 };
/** Exports that a process writes at once; each reads a page into memory. */
const MOST_AT_ONCE = 4;
const RETRY_AFTER_S = 10;

/** The call GET /api/v1/decisions/export. */
export const exportRoutes = ({ store }: { readonly store: DecisionStore }): readonly BoundOperation[] => {
  let running = 0;

  async function* oneOfFew(lines: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
    if (running >= MOST_AT_ONCE) {
      const sentence = `This process writes ${MOST_AT_ONCE} exports already. Try again in ${RETRY_AFTER_S} s.`;
      throw new ServiceError('overloaded', sentence, { retry_after_seconds: RETRY_AFTER_S });
    }
    running += 1;
    try {
      yield* lines;
    } finally {
      running -= 1;
    }
  }

  return [
    bindOperation(operation, ({ identity, query }) => {
      readExportFilters(query, Date.now());
      const entries = exportDecisions(query, { store, access: accessOf(identity), limits: LIMITS, now: Date.now });
      return Promise.resolve(new LinesAnswer(oneOfFew(linesOf(query, entries)), { headers: headersOf(query) }));
    }),
  ];
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

const headersOf = ({ format }: ExportDecisionsQuery): Record<string, string> => ({
  'content-disposition': `attachment; filename="decisions.${format ?? 'ndjson'}"`,
  ...(format === 'csv' ? { 'content-type': 'text/csv; charset=utf-8; header=present' } : {}),
});
