import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type RunningStack, type StackProgress, startStack } from '../../src';
import { query } from './postgres-query';
import { isAlive } from '../process-state';
import { downloads, removeTemporaryDirectories, temporaryDirectory } from '../temporary-directory';
import { brokerInterfaces, redis } from '../wire';

describe('a stack that is stopped and started again', () => {
  const directory = temporaryDirectory();
  const events: StackProgress[] = [];
  const clusterIds: string[] = [];
  let stack: RunningStack | undefined;

  const start = async (): Promise<RunningStack> => {
    stack = await startStack({ directory, downloads, onProgress: (event) => events.push(event) });
    clusterIds.push(
      readFileSync(join(directory, 'broker/data/meta.properties'), 'utf8').match(/cluster.id=.*/)?.[0] ?? '',
    );
    return stack;
  };

  afterAll(async () => {
    await stack?.stop();
    removeTemporaryDirectories();
  });

  it('starts all three servers', async () => {
    const { databaseUrl, cacheUrl, mqBrokers, processes } = await start();
    expect(processes.map(({ name }) => name).sort()).toEqual(['broker', 'cache', 'database']);
    expect(await query(databaseUrl, 'SELECT current_user, current_database()')).toEqual([['decision', 'decision']]);
    expect(await redis(cacheUrl, 'PING')).toBe('+PONG');
    expect(await brokerInterfaces(mqBrokers)).toBeGreaterThan(20);
  }, 360_000);

  it('reports each step once for each server, with times that never decrease', () => {
    const ready = events.filter(({ step }) => step === 'ready').map(({ server }) => server);
    expect(ready.sort()).toEqual(['broker', 'cache', 'database']);
    const times = events.map(({ elapsedMs }) => elapsedMs);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times.every(Number.isInteger)).toBe(true);
  });

  it('makes the password readable by its owner alone', () => {
    expect(statSync(join(directory, 'database-password')).mode & 0o777).toBe(0o600);
    expect(statSync(join(directory, 'broker')).mode & 0o077).toBe(0);
    expect(statSync(join(directory, 'cache')).mode & 0o077).toBe(0);
  });

  it('is durable unless told otherwise', async () => {
    expect(await query(stack?.databaseUrl ?? '', 'SHOW fsync')).toEqual([['on']]);
  });

  it('leaves no process and no lock behind when it stops, and may be stopped again', async () => {
    await query(stack?.databaseUrl ?? '', "CREATE TABLE kept (word text); INSERT INTO kept VALUES ('here')");
    await redis(stack?.cacheUrl ?? '', 'SET', 'kept', 'here too');
    const pids = stack?.processes.map(({ pid }) => pid) ?? [];
    expect(pids.filter(isAlive)).toHaveLength(3);
    await Promise.all([stack?.stop(), stack?.stop()]);
    await stack?.stop();
    expect(pids.filter(isAlive)).toEqual([]);
    expect(stack?.processes).toEqual([]);
    expect(readdirSync(directory).filter((name) => /^processes-|lock/.test(name))).toEqual([]);
  }, 180_000);

  it('keeps its data, on other ports and in the same cluster', async () => {
    const before = stack;
    const { databaseUrl, cacheUrl, mqBrokers } = await start();
    expect([databaseUrl, cacheUrl, mqBrokers]).not.toEqual([before?.databaseUrl, before?.cacheUrl, before?.mqBrokers]);
    expect(new URL(databaseUrl).password).toBe(new URL(before?.databaseUrl ?? '').password);
    expect(await query(databaseUrl, 'SELECT word FROM kept')).toEqual([['here']]);
    expect(await redis(cacheUrl, 'GET', 'kept')).toBe('here too');
    expect(await brokerInterfaces(mqBrokers)).toBeGreaterThan(20);
    expect(clusterIds).toHaveLength(2);
    expect(clusterIds[0]).toMatch(/^cluster.id=[\w-]{22}$/);
    expect(clusterIds[1]).toBe(clusterIds[0]);
  }, 360_000);

  it('needs no second installation', () => {
    const first = events.findIndex(({ step }) => step === 'stop');
    expect(events.slice(first).filter(({ step }) => step === 'install' || step === 'fetch')).toEqual([]);
    expect(existsSync(join(directory, 'locations.json'))).toBe(false);
  });
});
