// The servers of a test run, and the results of jest: shared by `npm test` and `pnpm test:repeat`.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, run } from './toolchain.mjs';

const STACK_DEADLINE_MS = 600_000;
const STACK_STOP_MS = 15_000;
const COUNTS = join(root, 'test-results/counts.json');

/** A program from the installed dependencies. */
export const installed = (path) => [process.execPath, join(root, 'node_modules', path)];

/** Starts one set of servers in a child process, and resolves with the file of their addresses and a function that stops them. */
export const startTestServers = async () => {
  const directory = mkdtempSync(join(tmpdir(), 'decision-test-'));
  const addresses = join(directory, 'addresses.json');
  const child = spawn(process.execPath, [join(root, 'packages/local-stack/dist/cli/test-stack.js'), addresses], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const ended = new Promise((done) => child.once('exit', done));
  const stop = async () => {
    const kill = setTimeout(() => child.kill('SIGKILL'), STACK_STOP_MS);
    child.kill('SIGTERM');
    await ended;
    clearTimeout(kill);
    rmSync(directory, { recursive: true, force: true });
  };
  const until = Date.now() + STACK_DEADLINE_MS;
  while (!existsSync(addresses)) {
    if (child.exitCode !== null || Date.now() > until) {
      await stop();
      throw new Error('The test servers did not start; the lines above say why.');
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  return { addresses, stop };
};

/** Runs jest; resolves with its exit code and its counts; an unfinished run counts as nothing passed. */
export const runTests = async (args, env) => {
  rmSync(COUNTS, { force: true });
  const [node, jest] = installed('jest/bin/jest.js');
  const exitCode = await run(node, [jest, ...args], { env });
  const counts = existsSync(COUNTS)
    ? JSON.parse(readFileSync(COUNTS, 'utf8'))
    : { passed: 0, failed: 0, skipped: 0, failures: [] };
  return { exitCode, counts };
};
