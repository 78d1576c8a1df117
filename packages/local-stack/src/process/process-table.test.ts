import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { descendantsOf, identityOf, isSameProcess, processesIn } from './process-table';

describe('the process table', () => {
  it('tells this process from others, always in the same way', () => {
    const mine = identityOf(process.pid);
    expect(mine).toMatch(/^\S+$/);
    expect(identityOf(process.pid)).toBe(mine);
    expect(identityOf(process.ppid)).not.toBe(mine);
    expect(isSameProcess(process.pid, mine ?? '')).toBe(true);
    expect(isSameProcess(process.ppid, mine ?? '')).toBe(false);
  });

  it('knows nothing of a process that is not there', () => {
    expect(identityOf(4_194_305)).toBeUndefined();
    expect(descendantsOf(4_194_305)).toEqual([]);
  });

  it('lists children before grandchildren', async () => {
    const child = spawn('/bin/sh', ['-c', 'sh -c "echo ready; read _; true"; true']);
    await once(child.stdout, 'data');
    const found = descendantsOf(process.pid);
    expect(found).toContain(child.pid);
    const [grandchild] = descendantsOf(child.pid ?? 0);
    expect(found.indexOf(grandchild ?? 0)).toBeGreaterThan(found.indexOf(child.pid ?? 0));
    child.stdin.end('\n');
    await once(child, 'close');
  });

  it('finds nothing of a program in a directory where it does not run', () => {
    expect(processesIn('/no/such/place', 'postgres')).toEqual([]);
  });
});
