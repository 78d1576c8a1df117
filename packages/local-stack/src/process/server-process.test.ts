import {
  closeSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLog, readLogTail } from './server-process';

describe('a log file', () => {
  let directory: string;
  let path: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'local-stack-test-'));
    path = join(directory, 'server.log');
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const write = (line: string): void => {
    const file = openLog(path);
    writeSync(file, line);
    closeSync(file);
  };

  it('grows with each run and is private to its owner', () => {
    write('first\n');
    write('second\n');
    expect(readFileSync(path, 'utf8')).toBe('first\nsecond\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('is rotated when it is large, replacing the previous old one', () => {
    writeFileSync(`${path}.old`, 'oldest');
    write('old\n');
    truncateSync(path, 10 * 1024 * 1024 + 1);
    write('new\n');
    expect(readFileSync(path, 'utf8')).toBe('new\n');
    expect(readdirSync(directory).sort()).toEqual(['server.log', 'server.log.old']);
    expect(readFileSync(`${path}.old`, 'utf8').startsWith('old\n')).toBe(true);
  });

  it('is read from its end', () => {
    write(`${'x'.repeat(100_000)}end`);
    expect(readLogTail(path)).toHaveLength(8 * 1024);
    expect(readLogTail(path).endsWith('xend')).toBe(true);
  });

  it('reads as empty if there is none', () => {
    expect(readLogTail(path)).toBe('');
  });
});
