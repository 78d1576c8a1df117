import { type DecisionLogEntry, type ExportDecisionsQuery, ServiceError } from '@decision/contracts';
import { type DecisionFilters, type DecisionPosition } from '@decision/decision-logs';
import { type WorkspaceAccess } from '@decision/persistence';
import { byDecision, type DecisionItems, toEntry } from './answer-decisions';
import { type DecisionStore } from './decision-store';
import { readFilters } from './read-query';

const DAY_MS = 86_400_000;
const MIB = 1_048_576;
/** Decisions that are read at once. */
const PAGE = 200;
/** Characters of requests and responses that are read at once; a larger decision is read alone. */
const PAGE_CHARACTERS = 4 * MIB;
/** Maximum characters of one decision; beyond it items of a list are left out. */
const MOST_OF_ONE = 64 * MIB;

/** Bounds of one export. */
interface ExportLimits {
  /** Decisions at most. */
  readonly decisions: number;
  /** How long it may take, ms. */
  readonly durationMs: number;
}

export interface ExportOptions {
  readonly store: DecisionStore;
  readonly access: WorkspaceAccess;
  readonly limits: ExportLimits;
  /** Epoch ms. */
  readonly now: () => number;
}

type ExportFilters = DecisionFilters & { readonly start: string; readonly end: string };

/** The filters of an export: of the 24 hours before `end`, or before now, if no start is given. Throws as `readDecisionQuery` does. */
export const readExportFilters = (query: ExportDecisionsQuery, now: number): ExportFilters => {
  const end = query.end ?? new Date(now).toISOString();
  const start = query.start ?? new Date(Date.parse(end) - DAY_MS).toISOString();
  const filters = readFilters({ ...query, start, end });
  return { ...filters, start: filters.start ?? start, end: filters.end ?? end };
};

/** Decisions as shown to clients; otherwise like {@link exportItems}. */
export async function* exportDecisions(
  query: ExportDecisionsQuery,
  options: ExportOptions,
): AsyncGenerator<DecisionLogEntry, void, undefined> {
  const hidesKeys = options.access.userGroups !== undefined;
  for await (const items of exportItems(query, options)) yield toEntry(items, hidesKeys);
}

/**
 * Reads the items of decisions, oldest first; each page is read only when the previous one has been consumed, without an open transaction
 * (docs/adr/0056-exports-are-read-by-pages.md). The audit entry is written before the first page is read. Throws `result_too_large` with
 * the `start` of the rest beyond the limit of decisions, and `deadline_exceeded` after its time.
 */
export async function* exportItems(
  query: ExportDecisionsQuery,
  { store, access, limits, now }: ExportOptions,
): AsyncGenerator<DecisionItems, void, undefined> {
  const deadline = now() + limits.durationMs;
  const filters = readExportFilters(query, now());
  await recordExport(store, access, { ...query, start: filters.start, end: filters.end });
  let after: DecisionPosition | undefined;
  let { start } = filters;
  let taken = 0;
  for (let isLast = false; !isLast;) {
    const page = await store.ask(access, (answers) => {
      // The start skips days that have been read.
      const order = { sort: 'time', isDescending: false, after, limit: PAGE } as const;
      const withTraces = query.include_traces === 'true';
      const reading = { withTraces, pageCharacters: PAGE_CHARACTERS, characters: MOST_OF_ONE };
      return answers.readPage({ ...filters, start }, order, reading);
    });
    const ids = page.shown.map(({ id }) => id);
    for (const items of byDecision(ids, page.items)) {
      const [{ decidedAt }] = items;
      if (taken >= limits.decisions) throw tooMany(limits.decisions, decidedAt);
      if (now() > deadline) throw tooLong(limits.durationMs, decidedAt);
      yield items;
      taken += 1;
    }
    const last = page.shown.at(-1);
    after = last;
    start = last?.decidedAt ?? start;
    isLast = page.isLast;
  }
}

const recordExport = (store: DecisionStore, access: WorkspaceAccess, asked: object): Promise<void> =>
  store.ask(access, (_, note) =>
    note({ kind: 'decision', action: 'export', id: 'export', name: 'export', after: asked }),
  );

const tooMany = (limit: number, start: string): ServiceError =>
  new ServiceError(
    'result_too_large',
    `An export has ${limit} decisions at most. Ask for the rest with start=${start}; decisions of that very moment may come again.`,
    { limit, start },
  );

const tooLong = (limitMs: number, start: string): ServiceError =>
  new ServiceError(
    'deadline_exceeded',
    `An export takes ${limitMs / 1_000} seconds at most. Ask for the rest with start=${start}; decisions of that very moment may come again.`,
    { start },
  );
