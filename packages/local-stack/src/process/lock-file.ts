import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { identityOf, isSameProcess, isSystemError } from './process-table';

type LockAttempt =
  | { readonly kind: 'taken'; readonly release: () => void }
  /** `pid` is 0 if the holder has not yet written its id. */
  | { readonly kind: 'held'; readonly pid: number };

/**
 * Takes the lock unless a living process holds it. The lock of a process that died without releasing it is taken over. See
 * docs/adr/0033-libraries-tried.md.
 */
export const tryLock = (path: string): LockAttempt => {
  mkdirSync(dirname(path), { recursive: true });
  const mine = `${process.pid} ${identityOf(process.pid) ?? 'unknown'}`;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (create(path, mine)) return { kind: 'taken', release: () => removeIf(path, mine) };
    const found = read(path);
    if (found === undefined) continue;
    const holder = livingHolder(path, found);
    if (holder !== undefined) return { kind: 'held', pid: holder };
    removeIf(path, found);
  }
  return { kind: 'held', pid: 0 };
};

/** Another process may take over the same lock first; then this one tries again. */
const ATTEMPTS = 5;
/** A lock without a name is being written, or was when the machine crashed. */
const NAMELESS_LIMIT_MS = 2_000;

const create = (path: string, content: string): boolean => {
  try {
    writeFileSync(path, content, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) return false;
    throw error;
  }
};

const livingHolder = (path: string, content: string): number | undefined => {
  const [, pid, identity] = /^(\d+) (\S+)$/.exec(content) ?? [];
  if (pid !== undefined && identity !== undefined)
    return isSameProcess(Number(pid), identity) ? Number(pid) : undefined;
  const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return Date.now() - written < NAMELESS_LIMIT_MS ? 0 : undefined;
};

const removeIf = (path: string, content: string): void => {
  if (read(path) === content) rmSync(path, { force: true });
};

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // Released in the meantime.
  }
};
