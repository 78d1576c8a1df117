import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Engine } from '../engine/engine';
import { type LocalObjects } from '../reading/local-objects';
import { compactionsOfDay, type DecisionObject, objectsOfDay } from '../reading/objects-of-day';
import { type ObjectStore } from '../store/object-store';
import { type Signer } from './signing';

/** Dependencies of upkeep. */
export interface UpkeepTools {
  readonly store: ObjectStore;
  readonly engine: Engine;
  readonly objects: LocalObjects;
  /** Epoch ms. */
  readonly now: () => number;
  /** Signs compactions, if there is a key. */
  readonly signer?: Signer | undefined;
}

interface CompactOptions extends UpkeepTools {
  readonly workspaceId: string;
  /** YYYY-MM-DD, UTC. */
  readonly date: string;
  /** Objects of at least this size are left alone, and smaller ones are merged into objects of about this size. */
  readonly targetBytes: number;
}

/** The outcome for a day. */
interface CompactedDay {
  /** Objects that replaced others. */
  readonly made: number;
  readonly replaced: number;
  /** Replaced objects that were removed. */
  readonly removed: number;
}

const HOUR_MS = 3_600_000;
/** How late messages of an hour usually arrive, ms. */
const SETTLED_MS = HOUR_MS / 2;
/** How long replaced objects stay, ms: questions that have begun with them, here or in other engines, end within it. */
const GRACE_MS = 15 * 60_000;
/** Maximum number of objects merged into one: each is opened. */
const MOST_AT_ONCE = 500;

/**
 * Merges the small objects of each hour of a day that has ended, without duplicate rows. The new object is stored first, and counts for
 * questions once the compaction that names it exists; the replaced objects stay for a quarter of an hour. A crash between any two steps
 * loses and duplicates nothing. If several processes replace an object at the same time, one of them succeeds.
 */
export const compactDay = async (options: CompactOptions): Promise<CompactedDay> => {
  const { store, workspaceId, date, now } = options;
  const hours = new Map<number, DecisionObject[]>();
  for (const object of await objectsOfDay(store, workspaceId, date)) {
    const ended = Date.parse(`${date}T00:00:00Z`) + (object.hour + 1) * HOUR_MS + SETTLED_MS;
    if (object.bytes >= options.targetBytes || ended > now()) continue;
    hours.set(object.hour, [...(hours.get(object.hour) ?? []), object]);
  }
  let [made, replaced] = [0, 0];
  for (const objects of hours.values())
    for (const group of groupsOf(objects, options.targetBytes)) {
      if (group.length < 2) continue;
      if ((await replaceObjects(group, options)) === undefined) continue;
      made += 1;
      replaced += group.length;
    }
  return { made, replaced, removed: await removeReplaced(options, GRACE_MS) };
};

/** Groups objects in order, up to a number of bytes. */
const groupsOf = (objects: readonly DecisionObject[], most: number): readonly (readonly DecisionObject[])[] => {
  const groups: DecisionObject[][] = [];
  let bytes = Infinity;
  for (const object of objects) {
    const last = groups.at(-1);
    if (last === undefined || bytes + object.bytes > most || last.length === MOST_AT_ONCE) groups.push([object]);
    else last.push(object);
    bytes = groups.at(-1)?.length === 1 ? object.bytes : bytes + object.bytes;
  }
  return groups;
};

/** The name of the replacement of objects: the same in every process. */
const nameOf = (keys: readonly string[], purpose: string): string =>
  createHash('sha256').update(JSON.stringify([purpose, ...keys])).digest('hex').slice(0, 24); // prettier-ignore

/**
 * Replaces objects of one hour by one object. `without` names decisions to leave out, and then `purpose` distinguishes this from a plain
 * compaction. Answers the bytes of the new object; undefined if another process replaced them at the same time.
 */
export const replaceObjects = async (
  group: readonly DecisionObject[],
  {
    store,
    engine,
    objects,
    workspaceId,
    date,
    now,
    signer,
  }: UpkeepTools & Pick<CompactOptions, 'workspaceId' | 'date'>,
  { without = [], purpose = 'compact' }: { readonly without?: readonly string[]; readonly purpose?: string } = {},
): Promise<ReplacedObject | undefined> => {
  const keys = group.map(({ key }) => key);
  const name = nameOf(keys, purpose);
  const of = `workspace=${workspaceId}/date=${date}`;
  const key = `decisions/${of}/hour=${String(group[0]?.hour ?? 0).padStart(2, '0')}/c-${name}-${now().toString(36)}-${randomUUID().slice(0, 8)}.parquet`;
  const path = join(engine.folder, `${name}.parquet`);
  const opened = objects.open(group);
  let object: ReplacedObject;
  try {
    await opened.fill(true);
    const records = await engine.merge({ files: opened.paths, object: path, without });
    const hash = createHash('sha256');
    await pipeline(createReadStream(path), hash);
    object = { key, records, bytes: (await stat(path)).size, sha256: hash.digest('hex') };
    if (records > 0) await store.putFile(key, path);
  } finally {
    opened.close();
    await rm(path, { force: true });
  }
  // Others may have replaced them meanwhile, perhaps by an erasure: the erased decisions must not come back with this object.
  const replaced = (await compactionsOfDay(store, workspaceId, date)).flatMap(({ replaces }) => replaces);
  const compaction = {
    v: 1,
    at: new Date(now()).toISOString(),
    object: object.records > 0 ? object : null,
    replaces: keys,
  };
  const isFirst =
    !keys.some((replacedKey) => replaced.includes(replacedKey)) &&
    (await store.create(`compactions/${of}/${name}.json`, signer?.textOf(compaction) ?? JSON.stringify(compaction)));
  if (isFirst) return object;
  await store.remove(key);
  return undefined;
};

/** An object that replaced others. */
export interface ReplacedObject {
  readonly key: string;
  readonly records: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** Removes objects that were replaced at least this long ago, ms, and those that a crash left without a compaction; answers how many. */
export const removeReplaced = async (
  { store, workspaceId, date, now }: Pick<CompactOptions, 'store' | 'workspaceId' | 'date' | 'now'>,
  graceMs: number,
): Promise<number> => {
  const replaced = new Set<string>();
  const named = new Set<string>();
  for (const { at, object, replaces } of await compactionsOfDay(store, workspaceId, date)) {
    if (object !== null) named.add(object.key);
    if (now() - Date.parse(at) >= graceMs) for (const key of replaces) replaced.add(key);
  }
  let removed = 0;
  for await (const { key } of store.list(`decisions/workspace=${workspaceId}/date=${date}/`)) {
    if (!replaced.has(key) && !isLeft(key, named, now())) continue;
    await store.remove(key);
    removed += 1;
  }
  return removed;
};

/** Maximum time from the start of writing an object to its compaction, ms. */
const LEFT_AFTER_MS = HOUR_MS;

/** Whether an object was left by a crash, so that nothing names it. */
const isLeft = (key: string, named: ReadonlySet<string>, now: number): boolean => {
  const [, begunAt] = /\/c-[0-9a-f]+-([0-9a-z]+)-[0-9a-f]+\.parquet$/.exec(key) ?? [];
  return begunAt !== undefined && !named.has(key) && now - Number.parseInt(begunAt, 36) >= LEFT_AFTER_MS;
};
