import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from './find-program';

describe('findProgram', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'local-stack-test-'));
    for (const name of ['a', 'b']) mkdirSync(join(directory, name));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const put = (path: string, mode: number): void => {
    writeFileSync(join(directory, path), '');
    chmodSync(join(directory, path), mode);
  };
  const find = (name: string): string | undefined =>
    findProgram(name, ['', '/no/such/place', join(directory, 'a'), join(directory, 'b')].join(':'));

  it('takes the first on the path', () => {
    put('a/tool', 0o755);
    put('b/tool', 0o755);
    expect(find('tool')).toBe(join(directory, 'a/tool'));
  });

  it('passes by what cannot be executed and what is a directory', () => {
    put('a/tool', 0o644);
    put('b/tool', 0o755);
    mkdirSync(join(directory, 'a/other'));
    expect(find('tool')).toBe(join(directory, 'b/tool'));
    expect(find('other')).toBeUndefined();
  });

  it('finds nothing on an empty path', () => {
    expect(findProgram('sh', '')).toBeUndefined();
  });
});
