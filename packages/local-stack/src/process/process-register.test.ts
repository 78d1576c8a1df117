import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProcessRegister, endLeftovers } from './process-register';
import { identityOf } from './process-table';

const DEADLINE_MS = 500;

describe('the process register', () => {
  const children: ChildProcess[] = [];
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'local-stack-test-'));
  });
  afterEach(async () => {
    await Promise.all(children.splice(0).map(ended));
    rmSync(directory, { recursive: true });
  });

  const ended = async (child: ChildProcess): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };

  /** A shell that says when it has set its traps. */
  const startShell = async (script: string): Promise<ChildProcess & { pid: number }> => {
    const child = spawn('/bin/sh', ['-c', `${script}; echo ready; while :; do sleep 0.05; done`]);
    children.push(child);
    await once(child.stdout, 'data');
    return Object.assign(child, { pid: child.pid ?? 0 });
  };

  it('is a file only while something runs', async () => {
    const first = await startShell(':');
    const second = await startShell(':');
    const register = createProcessRegister(directory);
    expect(readdirSync(directory)).toEqual([]);
    register.add(first.pid, 'SIGINT');
    register.add(second.pid, 'SIGTERM');
    const lines = [`INT ${first.pid} ${identityOf(first.pid)}`, `TERM ${second.pid} ${identityOf(second.pid)}`];
    expect(readFileSync(register.path, 'utf8')).toBe(`${lines.join('\n')}\n`);
    register.remove(first.pid);
    expect(readFileSync(register.path, 'utf8')).toBe(`${lines[1]}\n`);
    register.remove(second.pid);
    register.remove(second.pid);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('ends leftovers by the signal that they are registered with', async () => {
    const child = await startShell("trap 'exit 7' INT");
    createProcessRegister(directory).add(child.pid, 'SIGINT');
    const exit = once(child, 'exit');
    await endLeftovers(directory, 10_000);
    expect(await exit).toEqual([7, null]);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('kills leftovers of several runs that ignore their signal or are stopped', async () => {
    const deaf = await startShell("trap '' TERM");
    const stopped = await startShell("trap '' INT");
    createProcessRegister(directory).add(deaf.pid, 'SIGTERM');
    createProcessRegister(directory).add(stopped.pid, 'SIGINT');
    process.kill(stopped.pid, 'SIGSTOP');
    const exits = Promise.all([once(deaf, 'exit'), once(stopped, 'exit')]);
    await endLeftovers(directory, DEADLINE_MS);
    expect(await exits).toEqual([
      [null, 'SIGKILL'],
      [null, 'SIGKILL'],
    ]);
  });

  it('spares processes that reuse the id of an earlier one', async () => {
    const child = await startShell(':');
    writeFileSync(join(directory, 'processes-0123'), `KILL ${child.pid} boot:1\nKILL 4194305 boot:1\nnonsense\n`);
    await endLeftovers(directory, DEADLINE_MS);
    expect(identityOf(child.pid)).toBeDefined();
    expect(readdirSync(directory)).toEqual([]);
  });
});
