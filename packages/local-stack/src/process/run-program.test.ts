import { lastLines, type ProgramRun, runProgram } from './run-program';

const shell = (script: string, more: Partial<ProgramRun> = {}): ReturnType<typeof runProgram> =>
  runProgram({ command: '/bin/sh', args: ['-c', script], deadlineMs: 20_000, ...more });

describe('runProgram', () => {
  it('returns the exit code and both outputs', async () => {
    const { exitCode, output } = await shell('echo out; echo err >&2; exit 3');
    expect(exitCode).toBe(3);
    expect(output.split('\n').sort()).toEqual(['', 'err', 'out']);
  });

  it('hands over its input', async () => {
    expect(await shell('cat', { input: 'words' })).toEqual({ exitCode: 0, output: 'words' });
  });

  it('does not mind a program that reads none of it', async () => {
    expect(await shell('exit 0', { input: 'x'.repeat(1_000_000) })).toEqual({ exitCode: 0, output: '' });
  });

  it('keeps only the end of a long output', async () => {
    const { output } = await shell('i=0; while [ $i -lt 2000 ]; do echo 0123456789; i=$((i + 1)); done; echo end');
    expect(output).toHaveLength(8 * 1024);
    expect(output.endsWith('\nend\n')).toBe(true);
  });

  it('has no exit code for a program that is not there', async () => {
    const { exitCode } = await runProgram({ command: '/no/such/program', args: [], deadlineMs: 20_000 });
    expect(exitCode).toBeUndefined();
  });

  it('counts a signal as a failure', async () => {
    expect((await shell('kill -KILL $$')).exitCode).toBe(1);
  });

  it('ends a program at its deadline, also one that does not want to end', async () => {
    const late = shell("trap '' TERM; while :; do sleep 0.05; done", { deadlineMs: 100 });
    await expect(late).rejects.toMatchObject({ code: 'start_failed' });
    await expect(late).rejects.toThrow('/bin/sh did not end within 0.1 s.');
  });

  it('ends a program that is given up', async () => {
    const giveUp = new AbortController();
    const run = shell('exec sleep 60', { signal: giveUp.signal });
    setTimeout(() => giveUp.abort(), 50);
    await expect(run).rejects.toMatchObject({ code: 'aborted' });
    await expect(shell('exit 0', { signal: giveUp.signal })).rejects.toMatchObject({ code: 'aborted' });
  });
});

describe('lastLines', () => {
  it('are the last ones with something in them', () => {
    expect(lastLines('a\n\n b \nc\n\n', 2)).toBe('b\nc');
    expect(lastLines('', 2)).toBe('');
  });
});
