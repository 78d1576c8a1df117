import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryLock } from './lock-file';
import { identityOf } from './process-table';

describe('tryLock', () => {
  let directory: string;
  let path: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'local-stack-test-'));
    path = join(directory, 'lock');
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const take = (): (() => void) => {
    const attempt = tryLock(path);
    if (attempt.kind !== 'taken') throw new Error(`Held by ${attempt.pid}.`);
    return attempt.release;
  };

  it('takes a free lock and names this process in it', () => {
    take();
    expect(readFileSync(path, 'utf8')).toBe(`${process.pid} ${identityOf(process.pid)}`);
  });

  it('does not take it twice, and says who has it', () => {
    take();
    expect(tryLock(path)).toEqual({ kind: 'held', pid: process.pid });
  });

  it('takes it again after it was released', () => {
    const release = take();
    release();
    expect(existsSync(path)).toBe(false);
    take();
  });

  it('makes the directory that it lies in', () => {
    path = join(directory, 'new', 'deep', 'lock');
    take();
    expect(existsSync(path)).toBe(true);
  });

  it.each([
    ['a process that has ended', '4194305 boot:1'],
    ['an earlier process with the id of a living one', `${process.pid} boot:1`],
  ])('takes it from %s', (_what, content) => {
    writeFileSync(path, content);
    take();
    expect(readFileSync(path, 'utf8')).toContain(String(identityOf(process.pid)));
  });

  it.each(['', 'nonsense'])('leaves a lock alone while another process writes it (%j)', (content) => {
    writeFileSync(path, content);
    expect(tryLock(path)).toEqual({ kind: 'held', pid: 0 });
  });

  it('takes over a lock without a name', () => {
    writeFileSync(path, '');
    utimesSync(path, new Date(0), new Date(0));
    take();
  });

  it('does not release a lock that another process has taken over', () => {
    const release = take();
    writeFileSync(path, '1 other');
    release();
    expect(readFileSync(path, 'utf8')).toBe('1 other');
  });
});
