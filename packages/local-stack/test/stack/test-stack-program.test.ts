import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { descendantsOf } from '../../src/process/process-table';
import type { TestStackAddresses } from '../../src/test-stack';
import { waitUntil } from '../../src/wait-until';
import { query } from '../servers/postgres-query';
import { isAlive } from '../process-state';
import { removeTemporaryDirectories, temporaryDirectory } from '../temporary-directory';
import { firstLine, runNode, runTypeScript } from '../typescript-program';
import { brokerInterfaces, redis } from '../wire';

const PROGRAM = join(__dirname, '../../src/cli/test-stack.ts');
const HOOKS = join(__dirname, '../../jest');
const START_DEADLINE_MS = 360_000;

/** Makes the program under test put all its files in one directory, so that leftovers are visible. */
const temporaryFiles = (): string => {
  const directory = temporaryDirectory();
  chmodSync(directory, 0o711);
  return directory;
};
// The compiler's cache would be one of them.
const environmentOf = (directory: string): NodeJS.ProcessEnv => ({ TMPDIR: directory, TSX_DISABLE_CACHE: '1' });

const readAddresses = (path: string): TestStackAddresses =>
  JSON.parse(readFileSync(path, 'utf8')) as TestStackAddresses; // Written by the program under test.

const exitCode = async (child: ChildProcess): Promise<number | null> => {
  child.stdout?.resume();
  child.stderr?.resume();
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
};

afterEach(removeTemporaryDirectories);

describe('the test-stack program', () => {
  it(
    'writes addresses that answer, and leaves nothing when its input ends',
    async () => {
      const directory = temporaryFiles();
      const file = join(directory, 'addresses.json');
      const child = runTypeScript(PROGRAM, [file], environmentOf(directory));
      child.stderr?.resume();
      await waitUntil(() => existsSync(file), 'the address file is there');
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const { databaseUrl, cacheUrl, mqBrokers } = readAddresses(file);
      expect(await query(databaseUrl, 'SHOW fsync')).toEqual([['off']]);
      expect(await redis(cacheUrl, 'PING')).toBe('+PONG');
      expect(await brokerInterfaces(mqBrokers)).toBeGreaterThan(20);
      const processes = descendantsOf(child.pid ?? 0);
      expect(processes.length).toBeGreaterThan(3);
      child.stdin?.end();
      expect(await exitCode(child)).toBe(0);
      expect(processes.filter(isAlive)).toEqual([]);
      expect(readdirSync(directory)).toEqual([]);
    },
    START_DEADLINE_MS,
  );

  it(
    'leaves nothing when it is stopped during its start',
    async () => {
      const directory = temporaryFiles();
      const child = runTypeScript(PROGRAM, [join(directory, 'addresses.json')], environmentOf(directory));
      child.stderr?.resume();
      await waitUntil(() => readdirSync(directory).length > 0, 'a server starts');
      child.kill('SIGTERM');
      expect(await exitCode(child)).toBe(0);
      expect(readdirSync(directory)).toEqual([]);
    },
    START_DEADLINE_MS,
  );

  it('prints its usage', async () => {
    expect(await exitCode(runTypeScript(PROGRAM, []))).toBe(2);
  });
});

/** Runs the hooks as jest does: setup, tests, teardown once a line arrives. */
const RUN_HOOKS = `
(async () => {
  await require('${HOOKS}/global-setup.js')();
  console.log(process.env.TEST_STACK);
  await new Promise((resolve) => process.stdin.once('data', resolve));
  await require('${HOOKS}/global-teardown.js')();
  console.log('after: ' + process.env.TEST_STACK);
  process.exit(0);
})();
`;

describe('the hooks for jest', () => {
  it(
    'start servers before the tests and end them afterwards',
    async () => {
      const directory = temporaryFiles();
      const child = runNode(['-e', RUN_HOOKS], { ...environmentOf(directory), TEST_STACK: '' });
      const file = await firstLine(child);
      expect(await redis(readAddresses(file).cacheUrl, 'PING')).toBe('+PONG');
      const processes = descendantsOf(child.pid ?? 0);
      child.stdin?.write('go on\n');
      expect(await exitCode(child)).toBe(0);
      expect(processes.filter(isAlive)).toEqual([]);
      expect(readdirSync(directory)).toEqual([]);
    },
    START_DEADLINE_MS,
  );

  it(
    'leave nothing behind when jest is killed',
    async () => {
      const directory = temporaryFiles();
      const child = runNode(['-e', RUN_HOOKS], { ...environmentOf(directory), TEST_STACK: '' });
      await firstLine(child);
      const processes = descendantsOf(child.pid ?? 0);
      expect(processes.length).toBeGreaterThan(3);
      child.kill('SIGKILL');
      await waitUntil(() => !processes.some(isAlive) && readdirSync(directory).length === 0, 'everything is gone');
    },
    START_DEADLINE_MS,
  );

  it('use existing servers, and leave them alone', async () => {
    const child = runNode(['-e', RUN_HOOKS], { TEST_STACK: '/given/by/the/caller.json' });
    expect(await firstLine(child)).toBe('/given/by/the/caller.json');
    expect(descendantsOf(child.pid ?? 0)).toEqual([]);
    const after = firstLine(child);
    child.stdin?.write('go on\n');
    expect(await after).toBe('after: /given/by/the/caller.json');
    expect(await exitCode(child)).toBe(0);
  });
});
