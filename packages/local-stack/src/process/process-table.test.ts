import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { descendantsOf, identityOf, isSameProcess, processesIn, procFiles, psProgram } from './process-table';
import { findProgram } from './run-program';
import { waitUntil } from '../wait-until';

const isLinux = process.platform === 'linux';
const NOBODY = 4_194_305; // above the highest id that Linux gives

const sources = [
  ...(isLinux ? [{ name: 'files of Linux', source: procFiles }] : []),
  ...(findProgram('ps') === undefined ? [] : [{ name: 'ps program', source: psProgram }]),
];

describe.each(sources)('the $name', ({ source }) => {
  it('identify this process uniquely and consistently', () => {
    const mine = source.identityOf(process.pid);
    expect(mine).toMatch(/^\S+$/);
    expect(source.identityOf(process.pid)).toBe(mine);
    expect(source.identityOf(1)).toMatch(/^\S+$/);
    expect(source.identityOf(1)).not.toBe(mine);
  });

  it('return nothing for a process that does not exist', () => {
    expect(source.identityOf(NOBODY)).toBeUndefined();
    expect(descendantsOf(NOBODY, source)).toEqual([]);
  });

  it('list children before grandchildren', async () => {
    const child = await waitingShell();
    const found = descendantsOf(process.pid, source);
    const [grandchild] = descendantsOf(child.pid ?? 0, source);
    expect(found).toEqual(expect.arrayContaining([child.pid, grandchild]));
    expect(found.indexOf(grandchild ?? 0)).toBeGreaterThan(found.indexOf(child.pid ?? 0));
    child.stdin.end('\n');
    await once(child, 'close');
  });

  it('tell a process that runs from one that is stopped or has ended', async () => {
    const child = await waitingShell();
    const pid = child.pid ?? 0;
    expect(source.isStopped(pid)).toBe(false);
    process.kill(pid, 'SIGSTOP');
    await waitUntil(() => source.isStopped(pid));
    process.kill(pid, 'SIGCONT');
    await waitUntil(() => !source.isStopped(pid));
    child.stdin.end('\n');
    await once(child, 'close');
    expect(source.isStopped(pid)).toBe(true);
  });
});

/** A nested shell that runs until it reads a line. */
const waitingShell = async (): Promise<ChildProcessWithoutNullStreams> => {
  const child = spawn('/bin/sh', ['-c', 'sh -c "echo ready; read _; true"; true']);
  await once(child.stdout, 'data');
  return child;
};

describe('the process table', () => {
  it('recognizes whether a process is still the same one', () => {
    const mine = identityOf(process.pid) ?? '';
    expect(isSameProcess(process.pid, mine)).toBe(true);
    expect(isSameProcess(1, mine)).toBe(false);
    expect(isSameProcess(NOBODY, mine)).toBe(false);
  });

  it('finds the processes of a program by working directory on Linux', async () => {
    const child = spawn('/bin/sh', ['-c', 'exec sleep 60'], { cwd: __dirname });
    await once(child, 'spawn');
    const find = (directory: string, program: string): number[] => (isLinux ? processesIn(directory, program) : []);
    await waitUntil(() => !isLinux || find(__dirname, 'sleep').length > 0, 'the program has begun', 2_000);
    expect(find(__dirname, 'sleep')).toEqual(isLinux ? [child.pid] : []);
    expect(find('/no/such/place', 'sleep')).toEqual([]);
    expect(find(__dirname, 'slee')).toEqual([]);
    child.kill('SIGKILL');
    await once(child, 'close');
  });
});
