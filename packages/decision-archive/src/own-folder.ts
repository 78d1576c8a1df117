import { randomUUID } from 'node:crypto';
import { mkdir, readdir, realpath, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';

/** A folder of one process. */
interface OwnFolder {
  /** Without links in it. */
  readonly path: string;
  remove(): Promise<void>;
}

/** A folder that nothing has been put into for this long is removed, ms: its process has died, or makes it again. */
const ABANDONED_MS = 3_600_000;
/** How often the time of a folder is set, ms. */
const FRESH_MS = ABANDONED_MS / 6;
/** What is behind the beginning of a name: no other program has such names. */
const UUID = /^[0-9a-f-]{36}$/;

/** Removes folders, and files, that processes left when they were killed; `beginning` is what their names have before a UUID. */
export const removeAbandoned = async (parent: string, beginning: string): Promise<void> => {
  const now = Date.now();
  for (const name of await readdir(parent)) {
    if (!name.startsWith(beginning) || !UUID.test(name.slice(beginning.length))) continue;
    const path = join(parent, name);
    // Others may remove it, or own it.
    const changedAt = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => now,
    );
    if (now - changedAt > ABANDONED_MS) await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
};

/** Makes a folder below `parent` that no other process takes for abandoned, and removes abandoned ones. */
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
