import { createHash } from 'node:crypto';
import { ArchiveError } from '../archive-error';
import { readCompaction } from '../reading/objects-of-day';
import { type ObjectStore } from '../store/object-store';
import { countRolls, type DailyManifest, listDays, type ManifestObject, readDay } from './daily-manifest';
import { sha256Of, type SignatureCheck } from './signing';

interface VerifyOptions {
  readonly store: ObjectStore;
  readonly isSigned: SignatureCheck;
  /** YYYY-MM-DD, both included: manifests whose objects are checked. Undefined: from the first, to the last. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Decisions of earlier dates (YYYY-MM-DD) are no longer kept. Undefined: all are. */
  readonly keptSince?: string | undefined;
  /** Whether objects are checked only by name and size, or also read. */
  readonly readsObjects: boolean;
}

/** The result of verifying an archive. */
export interface Verification {
  /** Number of manifests, and of what the checked ones name. */
  readonly days: number;
  readonly rolls: number;
  readonly objects: number;
  readonly records: number;
  /** Of these objects: replaced by others; replaced by nothing, since all their decisions were erased; no longer kept. */
  readonly replaced: number;
  readonly erased: number;
  readonly expired: number;
  /** Messages that were never archived, and the first 1,000 of their ranges. */
  readonly missingMessages: number;
  readonly missing: readonly string[];
  /** Rolls that no manifest of a day names yet. */
  readonly notSigned: number;
  /** The last manifest. A note of it shows later whether manifests were removed from the end. */
  readonly last: { readonly date: string; readonly sha256: string } | null;
  /** Faults as sentences, the first 1,000. None: everything that was signed exists unchanged. */
  readonly problems: readonly string[];
}

type Counts = { -readonly [K in 'rolls' | 'objects' | 'records' | 'replaced' | 'erased' | 'expired']: number };
interface Findings {
  readonly counts: Counts;
  readonly problem: (sentence: string) => void;
}

const MOST_TOLD = 1_000;
/** Bytes of an object that are read at once. */
const CHUNK = 8_388_608;

/** Checks the chain of signed manifests, and that the objects they name exist or were replaced by signed ones. */
export const verifyArchive = async (options: VerifyOptions): Promise<Verification> => {
  const { store, isSigned, from = '', to = '9999-12-31' } = options;
  const problems: string[] = [];
  const missing: string[] = [];
  const counts: Counts = { rolls: 0, objects: 0, records: 0, replaced: 0, erased: 0, expired: 0 };
  const problem = (sentence: string): void => void (problems.length < MOST_TOLD && problems.push(sentence));
  const days = await listDays(store);
  let last: Verification['last'] = null;
  let [missingMessages, signed] = [0, 0];
  for (const { key, date } of days) {
    const text = (await store.read(key)) ?? '';
    const before = last;
    last = { date, sha256: sha256Of(text) };
    if (!isSigned(text)) {
      problem(`"${key}" was changed, or signed with another key.`);
      continue;
    }
    const day = readDay(key, text);
    if (day.previous?.date !== before?.date || day.previous?.sha256 !== before?.sha256)
      problem(`"${key}" does not follow ${before === null ? 'nothing' : `"daily/${before.date}.json" as it is`}: a manifest before it was changed or removed.`); // prettier-ignore
    signed = day.partitions.reduce((sum, { rollsInAll }) => sum + rollsInAll, 0);
    if (date < from || date > to) continue;
    for (const { topic, partition, missing: ranges } of day.partitions)
      for (const range of ranges) {
        missingMessages += range.messages;
        if (missing.length < MOST_TOLD)
          missing.push(`${topic}/${partition}: ${range.messages} of the offsets ${range.from} to ${range.to - 1}`);
      }
    await checkDay(day, options, { counts, problem });
  }
  const notSigned = Math.max((await countRolls(store)) - signed, 0);
  return { days: days.length, ...counts, missingMessages, missing, notSigned, last, problems };
};

const checkDay = async (day: DailyManifest, options: VerifyOptions, { counts, problem }: Findings): Promise<void> => {
  const folders = new Map<string, ManifestObject[]>();
  for (const roll of day.partitions.flatMap(({ rolls }) => rolls)) {
    counts.rolls += 1;
    const text = await options.store.read(roll.key);
    if (text === undefined) problem(`"${roll.key}" is gone.`);
    else if (sha256Of(text) !== roll.sha256) problem(`"${roll.key}" was changed.`);
    for (const object of roll.objects) {
      counts.objects += 1;
      counts.records += object.records;
      const folder = /^decisions\/(workspace=[^/]+\/date=[^/]+\/)/.exec(object.key)?.[1];
      if (folder === undefined) problem(`"${roll.key}" names "${object.key}", which is not an object of decisions.`);
      else folders.set(folder, [...(folders.get(folder) ?? []), object]);
    }
  }
  for (const [folder, objects] of folders)
    await checkFolder(folder, objects, { ...options, isFirst: day.previous === null }, { counts, problem });
};

/** The replacement of an object; `object` is null if nothing is left. */
interface Replacement {
  readonly key: string;
  readonly isSigned: boolean;
  readonly object: ManifestObject | null;
}

const checkFolder = async (
  folder: string,
  objects: readonly ManifestObject[],
  options: VerifyOptions & { readonly isFirst: boolean },
  { counts, problem }: Findings,
): Promise<void> => {
  const { store, keptSince = '', isFirst } = options;
  const replacements = await replacementsOf(folder, options, problem);
  const sizes = new Map<string, number>();
  for await (const { key, bytes } of store.list(`decisions/${folder}`)) sizes.set(key, bytes);
  const isKept = (/date=([^/]+)/.exec(folder)?.[1] ?? '') >= keptSince;
  const checked = new Set<string>();
  for (const written of objects) {
    const { object, unsigned } = follow(written, replacements);
    // Replacements made before there was a key are covered by the first manifest.
    if (unsigned !== undefined && !isFirst) problem(`"${unsigned}" replaced "${written.key}" without a signature.`);
    if (object !== written) counts.replaced += 1;
    if (object === null) counts.erased += 1;
    else if (!sizes.has(object.key) && !isKept) counts.expired += 1;
    else if (!checked.has(object.key)) {
      checked.add(object.key);
      const wrong = await faultOf(object, sizes.get(object.key), options);
      if (wrong !== undefined) problem(`"${object.key}" ${wrong}.`);
    }
  }
  for (const key of sizes.keys())
    if (!objects.some((object) => object.key === key) && (await isForeign(store, key)))
      problem(`"${key}" was not written by a collector.`);
}; // prettier-ignore

const replacementsOf = async (
  folder: string,
  { store, isSigned }: VerifyOptions,
  problem: Findings['problem'],
): Promise<ReadonlyMap<string, Replacement>> => {
  const replacements = new Map<string, Replacement>();
  for await (const { key } of store.list(`compactions/${folder}`)) {
    const text = await store.read(key);
    try {
      for (const { object, replaces } of readCompaction(key, text))
        for (const replaced of replaces) replacements.set(replaced, { key, isSigned: isSigned(text ?? ''), object });
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      problem(error.message);
    }
  }
  return replacements;
};

/** The final replacement of an object, and the first unsigned compaction on the way, if any. */
const follow = (
  written: ManifestObject,
  replacements: ReadonlyMap<string, Replacement>,
): { readonly object: ManifestObject | null; readonly unsigned: string | undefined } => {
  let object: ManifestObject | null = written;
  let unsigned: string | undefined;
  // Follows each replacement once, even in a cycle.
  for (let steps = 0; object !== null && steps <= replacements.size; steps += 1) {
    const next = replacements.get(object.key);
    if (next === undefined) break;
    if (!next.isSigned) unsigned ??= next.key;
    ({ object } = next);
  }
  return { object, unsigned };
};

/** How an object differs from what was written; undefined if it does not. */
const faultOf = async (
  { key, bytes, sha256 }: ManifestObject,
  size: number | undefined,
  { store, readsObjects }: VerifyOptions,
): Promise<string | undefined> => {
  if (size === undefined) return 'is gone';
  if (size !== bytes) return `has ${size} bytes instead of ${bytes}`;
  if (!readsObjects) return undefined;
  const hash = createHash('sha256');
  for (let at = 0; at < bytes; at += CHUNK) hash.update(await store.readRange(key, at, Math.min(at + CHUNK, bytes)));
  return hash.digest('hex') === sha256 ? undefined : 'was changed';
};

/** Whether an object that counts for questions belongs to no roll: no manifest names it, and none is pending. */
const isForeign = async (store: ObjectStore, key: string): Promise<boolean> => {
  const [, partition, from, digest] = /\/(\d+)-(\d+)-\d+-([0-9a-f]+)\.parquet$/.exec(key) ?? [];
  if (partition === undefined || from === undefined) return false;
  for (const topic of await store.folders('boundaries/')) {
    const name = `${topic}/partition=${partition}/${from.padStart(19, '0')}-${digest ?? ''}.json`;
    if ((await store.read(`boundaries/${name}`)) === undefined) continue;
    const manifest = await store.read(`manifests/${name}`);
    if (manifest === undefined || manifest.includes(JSON.stringify(key))) return false;
  }
  return true;
};
