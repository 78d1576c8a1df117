import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { LaunchError } from './launch-error';

/** Held by the one launcher of a checkout. */
interface LaunchLock {
  release(): void;
}

/**
 * Takes the lock of a checkout. Throws {@link LaunchError} when a live process holds it; a lock whose process is gone, after a
 * crash or a reboot, is taken over.
 */
export const takeLaunchLock = (path: string, describeRunning: () => string): LaunchLock => {
  mkdirSync(dirname(path), { recursive: true });
  const holder = readHolder(path);
  if (holder !== undefined && isAlive(holder)) {
    throw new LaunchError(`It already runs here as process ${holder}${describeRunning()}. Stop that one first.`);
  }
  rmSync(path, { force: true });
  createExclusively(path);
  return { release: () => rmSync(path, { force: true }) };
};

const createExclusively = (path: string): void => {
  try {
    const file = openSync(path, 'wx');
    writeSync(file, String(process.pid));
    closeSync(file);
  } catch (cause) {
    throw new LaunchError('Another launcher started at the same moment. Let that one go on.', { cause });
  }
};

const readHolder = (path: string): number | undefined => {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
};

/** Whether a process of this id exists; one that we may not signal exists too. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // kill throws nothing but system errors
  }
};
