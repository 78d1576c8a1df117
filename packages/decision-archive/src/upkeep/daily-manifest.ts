import { ArchiveError } from '../archive-error';
import { type ObjectStore } from '../store/object-store';
import { sha256Of, type Signer } from './signing';

/** An object of decisions as it was written. */
export interface ManifestObject {
  readonly key: string;
  readonly records: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** The outcome of messages that were written together. */
interface DailyRoll {
  /** Key and digest of its own manifest. */
  readonly key: string;
  readonly sha256: string;
  /** Offsets: the first, and the one after the last. */
  readonly from: number;
  readonly to: number;
  readonly unreadable: number;
  readonly objects: readonly ManifestObject[];
}

/** A range of offsets, with the number of its messages that were never archived. */
interface MissingMessages {
  readonly from: number;
  readonly to: number;
  readonly messages: number;
}

interface DailyPartition {
  readonly topic: string;
  readonly partition: number;
  /** Offset up to which it was archived. */
  readonly to: number;
  /** Number of its rolls by then, including earlier days. */
  readonly rollsInAll: number;
  readonly missing: readonly MissingMessages[];
  readonly rolls: readonly DailyRoll[];
}

/** A signed list of what was archived since the previous manifest (docs/adr/0058-a-manifest-a-day-is-signed-and-chained.md). */
export interface DailyManifest {
  readonly v: 1;
  /** YYYY-MM-DD, UTC: the day that had ended. */
  readonly date: string;
  /** ISO 8601. */
  readonly at: string;
  /** The previous manifest, with the SHA-256 of its text; null: this is the first. */
  readonly previous: { readonly date: string; readonly sha256: string } | null;
  readonly partitions: readonly DailyPartition[];
}

interface SignDayOptions {
  readonly store: ObjectStore;
  readonly signer: Signer;
  /** Epoch ms. */
  readonly now: () => number;
}

/** What was signed. */
interface SignedDay {
  readonly date: string;
  readonly rolls: number;
  readonly objects: number;
  readonly records: number;
  /** Messages that were never archived. */
  readonly missing: number;
}

const DAY_MS = 86_400_000;
/** Time from the end of a day to its signing, ms: the objects of its last messages are written by then. */
const SETTLED_MS = 2 * 3_600_000;
const ROLL = /\/(\d{19})-[0-9a-f]+\.json$/;
const DAY = /^daily\/(\d{4}-\d{2}-\d{2})\.json$/;

/** Signs what was archived since the last manifest, once a day has ended. Undefined if any process has already done so. */
export const signDay = async ({ store, signer, now }: SignDayOptions): Promise<SignedDay | undefined> => {
  const date = new Date(now() - SETTLED_MS - DAY_MS).toISOString().slice(0, 10);
  const last = (await listDays(store)).at(-1);
  if (last !== undefined && last.date >= date) return undefined;
  const text = last === undefined ? undefined : await store.read(last.key);
  const previous = last === undefined || text === undefined ? undefined : readDay(last.key, text);
  const manifest: DailyManifest = {
    ...{ v: 1, date, at: new Date(now()).toISOString() },
    previous: previous === undefined || text === undefined ? null : { date: previous.date, sha256: sha256Of(text) },
    partitions: await partitionsSince(store, previous),
  };
  if (!(await store.create(`daily/${date}.json`, signer.textOf(manifest)))) return undefined;
  const sum = (of: (partition: DailyPartition) => number) => manifest.partitions.reduce((n, next) => n + of(next), 0);
  const objectsOf = ({ rolls }: DailyPartition) => rolls.flatMap(({ objects }) => objects);
  return {
    date,
    rolls: sum(({ rolls }) => rolls.length),
    objects: sum((partition) => objectsOf(partition).length),
    records: sum((partition) => objectsOf(partition).reduce((n, { records }) => n + records, 0)),
    missing: sum(({ missing }) => missing.reduce((n, { messages }) => n + messages, 0)),
  };
};

/** The manifests of days, by ascending date. */
export const listDays = async (store: ObjectStore): Promise<readonly { key: string; date: string }[]> => {
  const days: { key: string; date: string }[] = [];
  for await (const { key } of store.list('daily/')) {
    const [, date] = DAY.exec(key) ?? [];
    if (date !== undefined) days.push({ key, date });
  }
  return days;
};

/** Reads a manifest of a day without checking its signature. Throws `damaged_object` if it is not one. */
export const readDay = (key: string, text: string): DailyManifest => {
  const day = parse(key, text) as Partial<DailyManifest>; // its members are checked
  if (day.v !== 1 || DAY.exec(key)?.[1] !== day.date || day.previous === undefined || !Array.isArray(day.partitions))
    throw damaged(key);
  return day as DailyManifest; // written by this package: its signature proves it
};

/** Number of rolls in the archive. */
export const countRolls = async (store: ObjectStore): Promise<number> => {
  let rolls = 0;
  for await (const { key } of store.list('manifests/')) if (ROLL.test(key)) rolls += 1;
  return rolls;
};

const partitionsSince = async (store: ObjectStore, previous: DailyManifest | undefined): Promise<DailyPartition[]> => {
  const partitions: DailyPartition[] = [];
  for (const topic of await store.folders('manifests/'))
    for (const folder of await store.folders(`manifests/${topic}/`)) {
      const [, number] = /^partition=(\d+)$/.exec(folder) ?? [];
      if (number === undefined) continue;
      const partition = Number(number);
      const before = previous?.partitions.find((other) => other.topic === topic && other.partition === partition);
      const { keys, rollsInAll } = await newRolls(store, `manifests/${topic}/${folder}/`, before);
      const rolls: (DailyRoll & { readonly messages: number })[] = [];
      for (const key of keys) rolls.push(await readRoll(store, key));
      rolls.sort((a, b) => a.from - b.from);
      const { to, missing } = coverage(rolls, before?.to);
      partitions.push({ topic, partition, to, rollsInAll, missing, rolls: rolls.map(({ messages: _, ...roll }) => roll) });
    }
  return partitions;
}; // prettier-ignore

/** Keys of the rolls of a partition that no manifest of a day names. */
const newRolls = async (store: ObjectStore, folder: string, before: DailyPartition | undefined) => {
  const beyond: string[] = [];
  let rollsInAll = 0;
  for await (const { key } of store.list(folder)) {
    const [, from] = ROLL.exec(key) ?? [];
    if (from === undefined) continue;
    rollsInAll += 1;
    if (Number(from) >= (before?.to ?? 0)) beyond.push(key);
  }
  if (rollsInAll - (before?.rollsInAll ?? 0) === beyond.length) return { keys: beyond, rollsInAll };
  // The topic was recreated, or read again from an earlier offset: all manifests are needed to find what is new.
  const keys = new Set<string>();
  for await (const { key } of store.list(folder)) if (ROLL.test(key)) keys.add(key);
  for (const { key } of await listDays(store))
    for (const { rolls } of readDay(key, (await store.read(key)) ?? '').partitions)
      for (const roll of rolls) keys.delete(roll.key);
  return { keys: [...keys], rollsInAll };
};

/** The end of rolls, and the gaps between them and after the earlier ones. */
const coverage = (
  rolls: readonly (DailyRoll & { readonly messages: number })[],
  before: number | undefined,
): { readonly to: number; readonly missing: readonly MissingMessages[] } => {
  const missing: MissingMessages[] = [];
  // Rolls from earlier offsets, as of a recreated topic, are checked from their own first one.
  const again = rolls.filter(({ from }) => from < (before ?? 0));
  const further = rolls.slice(again.length);
  const walk = (walked: typeof rolls, start: number): number => {
    let at = start;
    for (const { from, to, messages } of walked) {
      if (from > at) missing.push({ from: at, to: from, messages: from - at });
      if (messages < to - from) missing.push({ from, to, messages: to - from - messages });
      at = Math.max(at, to);
    }
    return at;
  };
  const reached = again[0] === undefined ? before : walk(again, again[0].from);
  if (further[0] === undefined) return { to: reached ?? 0, missing };
  return { to: walk(further, Math.max(before ?? further[0].from, reached ?? 0)), missing };
};

const readRoll = async (store: ObjectStore, key: string): Promise<DailyRoll & { readonly messages: number }> => {
  const text = (await store.read(key)) ?? '';
  const { from, to, messages, unreadable, objects } = parse(key, text) as Partial<
    Record<'from' | 'to' | 'messages' | 'unreadable' | 'objects', unknown>
  >; // its members are checked
  if (!isCount(from) || !isCount(to) || to <= from || !isCount(unreadable)) throw damaged(key);
  if (!Array.isArray(objects) || !objects.every(isObject)) throw damaged(key);
  return { key, sha256: sha256Of(text), from, to, messages: isCount(messages) ? messages : to - from, unreadable, objects };
}; // prettier-ignore

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

const isObject = (value: unknown): value is ManifestObject => {
  const { key, records, bytes, sha256 } = Object(value) as Partial<Record<keyof ManifestObject, unknown>>; // likewise
  return typeof key === 'string' && isCount(records) && isCount(bytes) && typeof sha256 === 'string';
};

const damaged = (key: string): ArchiveError =>
  new ArchiveError('damaged_object', `The object "${key}" is not a manifest. Restore its content.`);

const parse = (key: string, text: string): object => {
  try {
    return Object(JSON.parse(text)) as object; // any value has members, perhaps undefined
  } catch {
    throw damaged(key);
  }
};
