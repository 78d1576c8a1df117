import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { startStack } from '../../src';
import { descendantsOf, sendSignal } from '../../src/process/process-table';
import { waitUntil } from '../../src/wait-until';
import { query } from '../servers/postgres-query';
import { isAlive } from '../process-state';
import { downloads, removeTemporaryDirectories, temporaryDirectory } from '../temporary-directory';
import { firstLine, runTypeScript } from '../typescript-program';

const PROGRAM = join(__dirname, 'start-for-abandonment.ts');

interface ElsewhereStack {
  readonly child: ChildProcess;
  /** The servers themselves. */
  readonly servers: readonly number[];
  /** The servers with all their descendants. */
  readonly pids: readonly number[];
  readonly watchdogs: readonly number[];
}

/** A stack in a separate process, so that this one can observe its death. */
const startInOwnProcess = async (directory: string, names: string): Promise<ElsewhereStack> => {
  const child = runTypeScript(PROGRAM, [directory, downloads, names]);
  const servers = JSON.parse(await firstLine(child)) as number[]; // Written by that program.
  const pids = servers.flatMap((pid) => [pid, ...descendantsOf(pid)]);
  const watchdogs = descendantsOf(child.pid ?? 0).filter((pid) => !pids.includes(pid));
  return { child, servers, pids, watchdogs };
};

const endBy = async (child: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
};

describe('a stack whose owner dies', () => {
  const started: ElsewhereStack[] = [];

  const startElsewhere = async (directory: string, names: string): Promise<ElsewhereStack> => {
    const stack = await startInOwnProcess(directory, names);
    started.push(stack);
    return stack;
  };

  // Only a failed test leaves any.
  afterEach(() => {
    for (const { child, pids } of started.splice(0)) {
      for (const pid of [child.pid ?? 0, ...pids].filter(isAlive)) sendSignal(pid, 'SIGKILL');
    }
    removeTemporaryDirectories();
  });

  it.each([
    ['SIGKILL', 'database,cache,broker'],
    ['SIGTERM', 'database,cache'],
  ] as const)(
    'by %s ends by itself',
    async (signal, names) => {
      const directory = temporaryDirectory();
      const { child, pids, watchdogs } = await startElsewhere(directory, names);
      expect(pids.length).toBeGreaterThan(2);
      expect(watchdogs).not.toEqual([]);
      await endBy(child, signal);
      await waitUntil(() => ![...pids, ...watchdogs].some(isAlive), 'every process is gone');
      expect(readdirSync(directory).filter((name) => name.startsWith('processes-'))).toEqual([]);
    },
    360_000,
  );

  it('is ended by the next start, which uses its data, if its watchdog died too', async () => {
    const directory = temporaryDirectory();
    const { child, servers, pids, watchdogs } = await startElsewhere(directory, 'database,cache');
    for (const pid of watchdogs) process.kill(pid, 'SIGKILL');
    await endBy(child, 'SIGKILL');
    expect(servers.filter(isAlive)).toEqual(servers);
    const stack = await startStack({ directory, downloads, durable: false, servers: ['database', 'cache'] });
    expect(pids.filter(isAlive)).toEqual([]);
    expect(await query(stack.databaseUrl, 'SELECT 1')).toEqual([['1']]);
    await stack.stop();
  }, 180_000);

  it('leaves a pid file that does not block the next database', async () => {
    const directory = temporaryDirectory();
    const { child, pids, watchdogs } = await startElsewhere(directory, 'database');
    const everyone = [...watchdogs, child.pid ?? 0, ...pids];
    for (const pid of everyone) sendSignal(pid, 'SIGKILL');
    await waitUntil(() => !everyone.some(isAlive), 'every process is gone'); // The owner too: it holds the lock until then.
    expect(readdirSync(join(directory, 'database'))).toContain('postmaster.pid');
    const stack = await startStack({ directory, downloads, durable: false, servers: ['database'] });
    expect(await query(stack.databaseUrl, 'SELECT 1')).toEqual([['1']]);
    await stack.stop();
  }, 180_000);
});
