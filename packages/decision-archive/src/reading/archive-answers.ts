import {
  type DecisionAnswers,
  type DecisionFilters,
  type DecisionGroup,
  type DecisionItemRecord,
  type DecisionSort,
  type DecisionSums,
  type FoundDecision,
  timeOfDecisionId,
  withPages,
} from '@decision/decision-logs';
import pLimit from 'p-limit';
import { type Engine } from '../engine/engine';
import { type ObjectStore } from '../store/object-store';
import {
  type ArchiveVisibility,
  countSql,
  findOneSql,
  findSql,
  missingSql,
  readSql,
  type Source,
  summariseSql,
} from './archive-sql';
import { membersOf, type Row, textOrNull, timeOf } from './decision-rows';
import { type LocalObjects } from './local-objects';
import { type DecisionObject, objectsOfDay } from './objects-of-day';
import { type ArchiveQuestion } from './statement';

/** Dependencies for reading an archive. */
export interface ArchiveReading {
  readonly store: ObjectStore;
  readonly engine: Pick<Engine, 'ask'>;
  readonly objects: LocalObjects;
}

interface AnswersOptions extends ArchiveReading {
  readonly workspaceId: string;
  /** Undefined: the access sees everything. */
  readonly visibility: ArchiveVisibility | undefined;
  /** Of these flow versions, those whose traces the access may read; called only for restricted access. */
  readonly readableTraces: (versionIds: readonly string[]) => Promise<ReadonlySet<string>>;
  /** The time range of a question: a default if it names none, with a maximum length. Throws if it is longer. */
  readonly rangeOf: (filters: DecisionFilters) => { readonly start: string; readonly end: string };
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Days whose objects are listed at once. */
const DAYS_AT_ONCE = 8;
/** Bytes of objects in which a page is first searched; each further attempt takes four times as many. */
const FIRST_LOOK_BYTES = 4_194_304;
/** Margin around the range for messages of longer requests, ms. */
const NEARBY_MS = 15 * 60_000;

/** Answers questions only from the archive (docs/adr/0053-the-archive-answers-as-the-table-does.md). */
export const archiveAnswers = (options: AnswersOptions): DecisionAnswers => {
  const { store, engine, objects, workspaceId, visibility, rangeOf } = options;

  /** The objects that may hold decisions from one moment up to another, by day and hour. */
  const objectsWithin = async (start: number, end: number): Promise<readonly (DecisionObject & { from: number })[]> => {
    const inTurn = pLimit(DAYS_AT_ONCE);
    const days: number[] = [];
    for (let day = start - (start % DAY_MS); day < end; day += DAY_MS) days.push(day);
    const found = await Promise.all(
      days.map((day) =>
        inTurn(async () => {
          const objectsOf = await objectsOfDay(store, workspaceId, new Date(day).toISOString().slice(0, 10));
          return objectsOf.map((object) => ({ ...object, from: day + object.hour * HOUR_MS }));
        }),
      ),
    );
    return found.flat().filter(({ from }) => from < end && from + HOUR_MS > start);
  };

  /** Queries objects; answers no rows if there are none. */
  const ask = async (
    wanted: readonly DecisionObject[],
    questionOf: (source: Source) => ArchiveQuestion,
  ): Promise<readonly Row[]> => {
    if (wanted.length === 0) return [];
    const opened = objects.open(wanted);
    try {
      const question = questionOf({ files: opened.paths, workspaceId, visibility });
      await opened.fill(question.readsDocuments);
      return await engine.ask(question);
    } finally {
      opened.close();
    }
  };
  const askRange = async (filters: DecisionFilters, questionOf: (source: Source) => ArchiveQuestion) =>
    ask(await objectsWithin(Date.parse(filters.start ?? ''), Date.parse(filters.end ?? '')), questionOf);
  const within = (filters: DecisionFilters): DecisionFilters => ({ ...filters, ...rangeOf(filters) });

  return withPages({
    find: async (filters, order) => {
      const asked = within(filters);
      const toSorted = (row: Row) => toFound(row, order.sort);
      const [start, end] = [Date.parse(asked.start ?? ''), Date.parse(asked.end ?? '')];
      if (order.sort !== 'time')
        return (await askRange(asked, (source) => findSql(source, asked, order))).map(toSorted);
      const behind = order.after === undefined ? undefined : Date.parse(timeOfDecisionId(order.after.id) ?? '');
      const [first, last] = order.isDescending ? [start, Math.min(end, (behind ?? end) + 1)] : [behind ?? start, end];
      const all = (await objectsWithin(Math.max(start, first), last)).slice().sort((a, b) => a.from - b.from);
      if (order.isDescending) all.reverse();
      const found: FoundDecision[] = [];
      for (let bytes = FIRST_LOOK_BYTES; all.length > 0 && found.length < order.limit; bytes *= 4) {
        const rest = { ...order, limit: order.limit - found.length };
        const look = takeHours(all, bytes);
        found.push(...(await ask(look, (source) => findSql(source, asked, rest))).map(toSorted));
      }
      return found;
    },
    count: async (filters) => {
      const asked = within(filters);
      const [row] = await askRange(asked, (source) => countSql(source, asked));
      return Number(row?.['count'] ?? 0);
    },
    read: async (found, filters, reading) => {
      if (found.length === 0) return [];
      const hours = new Set(found.map(({ decidedAt }) => Math.floor(Date.parse(decidedAt) / HOUR_MS) * HOUR_MS));
      const ordered = [...hours].sort((a, b) => a - b);
      const all = await objectsWithin(ordered[0] ?? 0, (ordered.at(-1) ?? 0) + HOUR_MS);
      const rows = await ask(
        all.filter(({ from }) => hours.has(from)),
        (source) => readSql(source, found, filters, reading),
      );
      const items = rows.map(toItem);
      if (visibility === undefined || !reading.withTraces) return items;
      const readable = await options.readableTraces([...new Set(items.map(({ versionId }) => versionId))]);
      return items.map((item) => (readable.has(item.versionId) ? item : { ...item, pathTrace: null }));
    },
    findOne: async (id) => {
      const lowered = id.toLowerCase();
      const decidedAt = timeOfDecisionId(lowered);
      if (decidedAt === undefined) return undefined;
      const at = Date.parse(decidedAt);
      const [row] = await ask(await objectsWithin(at, at + 1), (source) => findOneSql(source, lowered));
      const characters = row?.['characters'] ?? undefined;
      return characters === undefined
        ? undefined
        : { id: lowered, key: null, decidedAt, characters: Number(characters) };
    },
    summarise: async (filters, split) => {
      const asked = within(filters);
      let keys: readonly string[] = [];
      const rows = await askRange(asked, (source) => {
        const made = summariseSql(source, asked, split);
        ({ keys } = made);
        return made.question;
      });
      const has = (key: string): boolean => keys.includes(key);
      return {
        total: toSums(rows.find((row) => row['is_total'] === true)),
        groups: rows.filter((row) => row['is_total'] !== true).map((row) => toGroup(row, has)),
      };
    },
    findMissing: async (missing) => {
      // Gaps are found from neighbouring numbers on both sides of the requested time.
      const [start, end] = [Date.parse(missing.start) - NEARBY_MS, Date.parse(missing.end) + NEARBY_MS];
      const rows = await ask(await objectsWithin(start, end), (source) => missingSql(source, missing));
      return rows.map((row) => ({
        ...{ producer: String(row['producer']), from: Number(row['first']), count: Number(row['missing']) },
        ...{ after: timeOf(row['after']), before: timeOf(row['before']) },
      }));
    },
  });
};

/** Takes whole hours from the start of a list: at least one, and up to a number of bytes. */
const takeHours = <T extends { readonly from: number; readonly bytes: number }>(all: T[], most: number): T[] => {
  let [bytes, count] = [0, 0];
  while (count < all.length) {
    const { from } = all[count] as T; // within its bounds
    const hour = all.slice(count).findIndex((object) => object.from !== from);
    const next = hour < 0 ? all.length : count + hour;
    bytes += all.slice(count, next).reduce((sum, object) => sum + object.bytes, 0);
    if (count > 0 && bytes > most) break;
    count = next;
  }
  return all.splice(0, count);
};

const jsonOf = (text: unknown): unknown => (typeof text === 'string' ? JSON.parse(text) : null);

const toFound = (row: Row, sort: DecisionSort): FoundDecision => ({
  id: String(row['id']),
  key: sort === 'time' ? null : sort === 'status' ? Number(row['key']) : String(row['key']),
  decidedAt: timeOf(row['at']),
  characters: Number(row['characters']),
});

const toItem = (row: Row): DecisionItemRecord => ({
  ...membersOf(row),
  id: String(row['decision_id']),
  pathTrace: jsonOf(row['path_trace']),
  request: jsonOf(row['request']),
  response: jsonOf(row['response']),
  isAltered: row['altered'] === true || row['cut'] === true,
  passes: row['passes'] === true,
  shownItems: Number(row['items']),
});

const toSums = (row: Row | undefined): DecisionSums => {
  const durations = row?.['durations'] as readonly unknown[] | null | undefined; // a list of its column's type
  const [half = 0, ninety = 0, ninetyFive = 0, ninetyNine = 0, all = 0] = (durations ?? []).map(Number);
  return {
    count: Number(row?.['count'] ?? 0),
    errors: Number(row?.['errors'] ?? 0),
    durationsUs: (durations ?? null) === null ? null : [half, ninety, ninetyFive, ninetyNine, all],
  };
};

const toGroup = (row: Row, has: (key: string) => boolean): DecisionGroup => ({
  ...toSums(row),
  kind: has('type') ? (row['type'] === 'flow' ? 'flow' : 'rule') : undefined,
  slug: has('name') ? String(row['name']) : undefined,
  assetId: has('asset_id') ? textOrNull(row['asset_id']) : undefined,
  versionId: has('version_id') ? String(row['version_id']) : undefined,
  status: has('status') ? Number(row['status']) : undefined,
  time: has('time') ? timeOf(row['time']) : undefined,
});
