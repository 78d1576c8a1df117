import { constants, type Stats } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { ownFiles } from '@decision/service-kit';
import { ConnectorFailure } from '../connector';
import { notGranted } from './grant';

/** Largest secret in a file, bytes. */
const MAX_BYTES = 65_536;
/** A file name, optionally preceded by folders; no segment begins with a dot. */
const NAME = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/;

/**
 * The text of a file within one of the folders, without its trailing line break. Links that lead out of the folder count as missing, and so
 * do files of the service itself, under any name.
 */
export const readMountedFile = async (folders: readonly string[], name: string): Promise<string> => {
  if (!NAME.test(name)) throw notGranted(name);
  for (const folder of folders) {
    const text = await readWithin(folder, name);
    if (text !== undefined) return text;
  }
  throw notGranted(name);
};

/** Whether the service reads the file for itself. Links are followed, since mounted files are replaced by changing links. */
const isOwn = async (path: string, { dev, ino }: Stats): Promise<boolean> => {
  for (const { path: own } of ownFiles(process.env)) {
    const state = await stat(own).catch(() => undefined);
    if (own === path || (state?.dev === dev && state.ino === ino)) return true;
  }
  return false;
};

const readWithin = async (folder: string, name: string): Promise<string | undefined> => {
  try {
    const root = await realpath(folder);
    const path = await realpath(join(root, name));
    if (!path.startsWith(root + sep)) return undefined;
    // The path is resolved: a link that replaces it meanwhile is refused.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const state = await file.stat();
      if (!state.isFile() || (await isOwn(path, state))) return undefined;
      if (state.size > MAX_BYTES)
        throw new ConnectorFailure(`The secret "${name}" takes more than ${MAX_BYTES} bytes, which is the limit.`, {
          outcome: 'refused',
        });
      return (await file.readFile('utf8')).replace(/\r?\n$/, '');
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof ConnectorFailure) throw error;
    return undefined;
  }
};
