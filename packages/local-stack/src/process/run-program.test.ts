import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atExit, findProgram, lastLines, type ProgramRun, runProgram } from './run-program';

const shell = (script: string, more: Partial<ProgramRun> = {}): ReturnType<typeof runProgram> =>
  runProgram({ command: '/bin/sh', args: ['-c', script], deadlineMs: 20_000, ...more });

describe('runProgram', () => {
  it('returns the exit code and both outputs', async () => {
    const { exitCode, output } = await shell('echo out; echo err >&2; exit 3');
    expect(exitCode).toBe(3);
    expect(output.split('\n').sort()).toEqual(['', 'err', 'out']);
  });

  it('writes the input to the program', async () => {
    expect(await shell('cat', { input: 'words' })).toEqual({ exitCode: 0, output: 'words' });
  });

  it('accepts a program that reads none of its input', async () => {
    expect(await shell('exit 0', { input: 'x'.repeat(1_000_000) })).toEqual({ exitCode: 0, output: '' });
  });

  it('keeps only the end of a long output', async () => {
    const { output } = await shell('i=0; while [ $i -lt 2000 ]; do echo 0123456789; i=$((i + 1)); done; echo end');
    expect(output).toHaveLength(8 * 1024);
    expect(output.endsWith('\nend\n')).toBe(true);
  });

  it('has no exit code for a missing program', async () => {
    const { exitCode } = await runProgram({ command: '/no/such/program', args: [], deadlineMs: 20_000 });
    expect(exitCode).toBeUndefined();
  });

  it('counts a signal as a failure', async () => {
    expect((await shell('kill -KILL $$')).exitCode).toBe(1);
  });

  it('ends a program at its deadline, even if it ignores SIGTERM', async () => {
    const late = shell("trap '' TERM; while :; do sleep 0.05; done", { deadlineMs: 100 });
    await expect(late).rejects.toMatchObject({ code: 'start_failed' });
    await expect(late).rejects.toThrow('/bin/sh did not end within 0.1 s.');
  });

  it('ends a program when its signal aborts', async () => {
    const giveUp = new AbortController();
    const run = shell('exec sleep 60', { signal: giveUp.signal });
    setTimeout(() => giveUp.abort(), 50);
    await expect(run).rejects.toMatchObject({ code: 'aborted' });
    await expect(shell('exit 0', { signal: giveUp.signal })).rejects.toMatchObject({ code: 'aborted' });
  });
});

describe('lastLines', () => {
  it('are the last non-empty ones', () => {
    expect(lastLines('a\n\n b \nc\n\n', 2)).toBe('b\nc');
    expect(lastLines('', 2)).toBe('');
  });
});

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

  it('finds the first on the path', () => {
    put('a/tool', 0o755);
    put('b/tool', 0o755);
    expect(find('tool')).toBe(join(directory, 'a/tool'));
  });

  it('skips directories and files that cannot be executed', () => {
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

describe('atExit', () => {
  it('listens once for any number of actions, and not at all without any', () => {
    const before = process.listenerCount('exit');
    const takeBack = Array.from({ length: 50 }, () => atExit(() => undefined));
    expect(process.listenerCount('exit')).toBe(before + 1);
    for (const forget of takeBack) forget();
    for (const forget of takeBack) forget();
    expect(process.listenerCount('exit')).toBe(before);
  });
});
