import { randomUUID } from 'node:crypto';
import { mkdir, readdir, realpath, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';

/** A folder that belongs to one process. */
interface OwnFolder {
  /** Its real path, without links. */
  readonly path: string;
  remove(): Promise<void>;
}

/** A folder that has not changed for this long is removed, ms: its process has died, or will make it again. */
const ABANDONED_MS = 3_600_000;
/** Interval at which the time of a folder is refreshed, ms. */
const FRESH_MS = ABANDONED_MS / 6;
/** What follows the prefix of a name: no other program uses such names. */
const UUID = /^[0-9a-f-]{36}$/;

/** Removes folders and files that killed processes left; `beginning` is the part of their names before a UUID. */
export const removeAbandoned = async (parent: string, beginning: string): Promise<void> => {
  const now = Date.now();
  for (const name of await readdir(parent)) {
    if (!name.startsWith(beginning) || !UUID.test(name.slice(beginning.length))) continue;
    const path = join(parent, name);
    // Another process may remove it, or own it.
    const changedAt = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => now,
    );
    if (now - changedAt > ABANDONED_MS) await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
};

/** Makes a folder below `parent` that no other process considers abandoned, and removes abandoned ones. */
export const makeOwnFolder = async (parent: string, beginning: string): Promise<OwnFolder> => {
  await mkdir(parent, { recursive: true });
  const above = await realpath(parent);
  await removeAbandoned(above, beginning);
  const path = join(above, `${beginning}${randomUUID()}`);
  await mkdir(path, { mode: 0o700 });
  const timer = setInterval(() => {
    utimes(path, new Date(), new Date()).catch(() => undefined);
  }, FRESH_MS).unref();
  return {
    path,
    remove: async () => {
      clearInterval(timer);
      await rm(path, { recursive: true, force: true });
    },
  };
};
