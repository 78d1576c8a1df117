import { randomUUID } from 'node:crypto';
import { copyFile, link, mkdir, open, readdir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { type ObjectStore, type StoredObject } from './object-store';
import { ArchiveError } from '../archive-error';
import { removeAbandoned } from '../own-folder';

/** Objects that are being written; they are renamed once complete. */
const UNFINISHED = '.unfinished';

const hasCode = (error: unknown, code: string): boolean => (error as NodeJS.ErrnoException).code === code; // only asked for a code

const sync = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/**
 * Keeps objects as files below a folder, which is made if needed. Unfinished files of dead processes are removed once they are an hour old.
 */
export const openFileStore = async (root: string): Promise<ObjectStore> => {
  await mkdir(join(root, UNFINISHED), { recursive: true });
  await removeAbandoned(join(root, UNFINISHED), '');
  const pathOf = (key: string): string => join(root, ...key.split('/'));
  /** Calls `write` with the path of a new file, and `commit` once the file is durable; then makes the names in the folders durable. */
  const make = async (
    key: string,
    write: (path: string) => Promise<void>,
    commit: (from: string, to: string) => Promise<void>,
  ): Promise<void> => {
    const to = pathOf(key);
    const from = join(root, UNFINISHED, randomUUID());
    await mkdir(dirname(to), { recursive: true });
    try {
      await write(from);
      await sync(from);
      await commit(from, to).catch(async (error: unknown) => {
        if (!hasCode(error, 'ENOENT')) throw error;
        // The folder was empty, and has just been removed.
        await mkdir(dirname(to), { recursive: true });
        await commit(from, to);
      });
      await syncFolders(root, dirname(to));
    } finally {
      await rm(from, { force: true });
    }
  };
  return {
    putFile: (key, path) => make(key, (file) => copyFile(path, file), rename),
    create: async (key, text) => {
      try {
        await make(key, (file) => writeText(file, text), link);
        return true;
      } catch (error) {
        if (hasCode(error, 'EEXIST')) return false;
        throw error;
      }
    },
    read: async (key) => {
      try {
        return await readFile(pathOf(key), 'utf8');
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return undefined;
        throw error;
      }
    },
    list: (prefix) => listFolder(pathOf(prefix.slice(0, -1)), prefix),
    folders: async (prefix) => {
      const entries = await readdir(pathOf(prefix), { withFileTypes: true }).catch((error: unknown) => {
        if (hasCode(error, 'ENOENT')) return [];
        throw error;
      });
      return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
    },
    readRange: (key, from, to) => readRange(pathOf(key), from, to),
    remove: async (key) => {
      await rm(pathOf(key), { force: true });
      await removeEmpty(root, dirname(pathOf(key)));
      await syncFolders(root, dirname(pathOf(key))).catch((error: unknown) => {
        if (!hasCode(error, 'ENOENT')) throw error;
      });
    },
    pathOf,
  };
};

/** Objects below a folder, by rising key. A missing folder holds none. */
async function* listFolder(folder: string, prefix: string): AsyncGenerator<StoredObject, void, undefined> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  });
  // A folder sorts like its keys, which have a slash after its name.
  const named = entries.map((entry) => ({ entry, name: entry.isDirectory() ? `${entry.name}/` : entry.name }));
  for (const { entry, name } of named.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* listFolder(path, `${prefix}${name}`);
    else {
      const found = await stat(path).catch((error: unknown) => {
        if (hasCode(error, 'ENOENT')) return undefined;
        throw error;
      });
      if (found !== undefined) yield { key: `${prefix}${name}`, bytes: found.size };
    }
  }
}

const readRange = async (path: string, from: number, to: number): Promise<Buffer> => {
  const handle = await open(path, 'r');
  try {
    const buffer = Buffer.alloc(to - from);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, from);
    if (bytesRead < buffer.length)
      throw new ArchiveError(
        'store_failed',
        `The object "${path}" ends before byte ${to}: ${from + bytesRead} bytes are there.`,
      );
    return buffer;
  } finally {
    await handle.close();
  }
};

const writeText = async (path: string, text: string): Promise<void> => {
  const handle = await open(path, 'wx');
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
};

/** Removes a folder and its parents as far as they are empty. */
const removeEmpty = async (root: string, folder: string): Promise<void> => {
  for (let at = folder; at !== root; at = dirname(at))
    try {
      await rmdir(at);
    } catch {
      return; // It is not empty, or already gone.
    }
};

/** Makes the names in a folder, and in the folders down to it, durable. */
const syncFolders = async (root: string, folder: string): Promise<void> => {
  const names = relative(root, folder).split(sep);
  for (let depth = names.length; depth >= 0; depth -= 1) await sync(join(root, ...names.slice(0, depth)));
};
