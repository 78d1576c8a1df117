import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { pipeline } from 'node:stream/promises';
import { type SubscribedMessage } from '@decision/broker';
import { type DecisionRecord } from '@decision/decision-logs';
import { type Boundary, nameOfStart } from './boundary';
import { type Engine } from './engine/engine';
import { type ArchivedRecord, COLUMNS, compareRecords, folderOf, rowOf } from './rows';
import { type ObjectStore } from './store/object-store';

/** Dependencies of turning messages into objects. */
export interface RollOptions {
  readonly store: ObjectStore;
  readonly engine: Engine;
  /** The records of a message; undefined if it cannot be read. */
  readonly recordsOf: (message: SubscribedMessage) => readonly ArchivedRecord[] | undefined;
  /** The id by which a decision is found. */
  readonly decisionIdOf: (record: DecisionRecord) => string;
}

interface WrittenObject {
  readonly key: string;
  readonly records: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** Bytes of messages read, and of lines written, between yields to other work of the process. */
const AT_ONCE = 262_144;

/** Writes the objects of a boundary, and then their manifest. Undefined if the manifest exists already. */
export const writeRoll = async (
  boundary: Boundary,
  messages: readonly SubscribedMessage[],
  options: RollOptions,
): Promise<{ objects: number; records: number; unreadable: number; bytes: number } | undefined> => {
  const manifest = `manifests/${nameOfStart(boundary)}.json`;
  if ((await options.store.read(manifest)) !== undefined) return undefined;
  const { folders, unreadable } = await readMessages(messages, options.recordsOf);
  const objects: WrittenObject[] = [];
  const { partition, from, to, digest } = boundary;
  for (const folder of [...folders.keys()].sort()) {
    const key = `${folder}/${partition}-${from}-${to}-${digest}.parquet`;
    objects.push(await writeObject(key, folders.get(folder) ?? [], options));
    folders.delete(folder);
  }
  await options.store.create(
    manifest,
    JSON.stringify({ v: 1, ...boundary, messages: messages.length, unreadable, objects }),
  );
  const sum = (of: (object: WrittenObject) => number) => objects.reduce((total, object) => total + of(object), 0);
  return { objects: objects.length, records: sum(({ records }) => records), unreadable, bytes: sum((o) => o.bytes) };
};

/** Records by their folders, and the number of unreadable messages. */
const readMessages = async (messages: readonly SubscribedMessage[], recordsOf: RollOptions['recordsOf']) => {
  const folders = new Map<string, ArchivedRecord[]>();
  let [unreadable, bytes] = [0, 0];
  for (const message of messages) {
    const records = recordsOf(message);
    if (records === undefined) unreadable += 1;
    for (const archived of records ?? []) {
      const folder = folderOf(archived.record);
      const known = folders.get(folder);
      if (known === undefined) folders.set(folder, [archived]);
      else known.push(archived);
    }
    bytes += message.value?.length ?? 0;
    if (bytes < AT_ONCE) continue;
    bytes = 0;
    await turn();
  }
  return { folders, unreadable };
};

const writeObject = async (
  key: string,
  records: readonly ArchivedRecord[],
  { store, engine, decisionIdOf }: RollOptions,
): Promise<WrittenObject> => {
  const object = join(engine.folder, basename(key));
  const rows = `${object}.json`;
  try {
    await engine.makeFolder();
    const longestLine = await writeLines(rows, [...records].sort(compareRecords), decisionIdOf);
    await engine.write({ columns: COLUMNS, rows, object, longestLine });
    const hash = createHash('sha256');
    await pipeline(createReadStream(object), hash);
    await store.putFile(key, object);
    return { key, records: records.length, bytes: (await stat(object)).size, sha256: hash.digest('hex') };
  } finally {
    await Promise.all([rm(object, { force: true }), rm(rows, { force: true })]);
  }
};

/** Resolves with the bytes of the longest line. */
const writeLines = async (
  path: string,
  records: readonly ArchivedRecord[],
  decisionIdOf: RollOptions['decisionIdOf'],
): Promise<number> => {
  const file = await open(path, 'wx');
  try {
    let [longest, bytes] = [0, 0];
    let lines: Buffer[] = [];
    for (const [index, archived] of records.entries()) {
      const line = Buffer.from(`${rowOf(archived, decisionIdOf(archived.record))}\n`);
      longest = Math.max(longest, line.length);
      bytes += line.length;
      lines.push(line);
      if (bytes < AT_ONCE && index < records.length - 1) continue;
      await file.writeFile(Buffer.concat(lines));
      lines = [];
      bytes = 0;
    }
    return longest;
  } finally {
    await file.close();
  }
};
