import { closeSync, openSync, readSync, renameSync, statSync } from 'node:fs';

const SIZE_LIMIT_BYTES = 10 * 1024 * 1024;
const TAIL_BYTES = 8 * 1024;

/** Opens a log for appending. A large one of earlier runs is put aside, in place of the one put aside before. */
export const openLog = (path: string): number => {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > SIZE_LIMIT_BYTES) renameSync(path, `${path}.old`);
  return openSync(path, 'a', 0o600);
};

/** The last 8 KiB of a log; empty where it cannot be read. */
export const readLogTail = (path: string): string => {
  try {
    const file = openSync(path, 'r');
    try {
      const { size } = statSync(path);
      const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
      return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, size - bytes.length));
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
};
