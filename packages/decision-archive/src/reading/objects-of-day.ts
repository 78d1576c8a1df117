import pLimit from 'p-limit';
import { ArchiveError } from '../archive-error';
import { type ObjectStore } from '../store/object-store';

/** Requests at once. */
const AT_ONCE = 8;

/** An object whose decisions count. */
export interface DecisionObject {
  readonly key: string;
  readonly bytes: number;
  /** UTC, 0 to 23. */
  readonly hour: number;
}

/** Names of objects made by the writer or by compactions. Other objects are ignored. */
const OBJECT = /\/hour=(\d\d)\/(?:(c-[0-9a-zA-Z-]+)|\d+-\d+-\d+-[0-9a-f]+)\.parquet$/;

/**
 * The objects of a workspace that hold its decisions of a day (YYYY-MM-DD, UTC), by rising key. A compacted object counts from the moment
 * its compaction exists; the objects that it replaces stop counting then.
 */
export const objectsOfDay = async (
  store: ObjectStore,
  workspaceId: string,
  date: string,
): Promise<readonly DecisionObject[]> => {
  const of = `workspace=${workspaceId}/date=${date}/`;
  // Compactions are listed first: the output of a later one is ignored here, and the objects it replaces remain for a while.
  const compactions = await compactionsOfDay(store, workspaceId, date);
  const replaced = new Set(compactions.flatMap(({ replaces }) => replaces));
  const counting = new Set(compactions.flatMap(({ object }) => (object === null ? [] : [object.key])));
  const objects: DecisionObject[] = [];
  for await (const { key, bytes } of store.list(`decisions/${of}`)) {
    const [, hour, compacted] = OBJECT.exec(key) ?? [];
    if (hour === undefined || replaced.has(key) || (compacted !== undefined && !counting.has(key))) continue;
    objects.push({ key, bytes, hour: Number(hour) });
  }
  return objects;
};

/** Content of a compaction: an object (null: nothing was left) and the objects it replaces. */
interface Compaction {
  readonly v: 1;
  /** When it was made, ISO 8601. */
  readonly at: string;
  readonly object: {
    readonly key: string;
    readonly records: number;
    readonly bytes: number;
    readonly sha256: string;
  } | null;
  readonly replaces: readonly string[];
}

/** The compactions of a workspace for a day, by rising name. */
export const compactionsOfDay = async (
  store: ObjectStore,
  workspaceId: string,
  date: string,
): Promise<readonly Compaction[]> => {
  const keys: string[] = [];
  for await (const { key } of store.list(`compactions/workspace=${workspaceId}/date=${date}/`)) keys.push(key);
  const inTurn = pLimit(AT_ONCE);
  const compactions = await Promise.all(
    keys.map((key) => inTurn(async () => readCompaction(key, await store.read(key)))),
  );
  return compactions.flat();
};

/** Undefined if it has been removed meanwhile. Throws `damaged_object` if the text is not a compaction. */
export const readCompaction = (key: string, text: string | undefined): readonly Compaction[] => {
  if (text === undefined) return [];
  const damaged = `The object "${key}" of the archive is not a compaction.`;
  let compaction: Partial<Compaction>;
  try {
    compaction = Object(JSON.parse(text)) as Partial<Compaction>; // any value has members, perhaps undefined
  } catch (cause) {
    throw new ArchiveError('damaged_object', damaged, { cause });
  }
  if (compaction.object === undefined || !Array.isArray(compaction.replaces))
    throw new ArchiveError('damaged_object', damaged);
  return [compaction as Compaction]; // written by this package
};
