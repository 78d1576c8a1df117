// `npm test`: installs, builds, checks types, lint and format, then starts one set of real servers and runs the tests of every package on them.
// `npm run test:long` (`--long`) does the same at full sizes, where a usual run makes do with a tenth.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeFailures } from './failures.mjs';
import { build, checkNode, install, root, run, runQuietly, step } from './toolchain.mjs';

const STACK_DEADLINE_MS = 600_000;
const STACK_STOP_MS = 15_000;
const isLong = process.argv.includes('--long');
const COUNTS = join(root, 'test-results/counts.json');

/** A program that the project has installed. */
const installed = (path) => [process.execPath, join(root, 'node_modules', path)];

const TYPES = { name: 'type check', command: [...installed('typescript/bin/tsc'), '-p', 'tsconfig.json'] };
const LINT = { name: 'lint', command: [...installed('eslint/bin/eslint.js'), '.'] };
const FORMAT = { name: 'format', command: [...installed('prettier/bin/prettier.cjs'), '--check', '.'] };

/** Runs checks one after the other; resolves with `{ name, exitCode, output }` of each, and shows the output of those that failed. */
const runChecks = async (checks) => {
  const results = [];
  for (const { name, command } of checks) {
    const { exitCode, output } = await runQuietly(command[0], command.slice(1));
    if (exitCode !== 0) process.stdout.write(`${output}\n`);
    results.push({ name, exitCode, output });
  }
  return results;
};

/** Servers in a child process; resolves with what the suites need to find them. */
const startServers = async (directory) => {
  const addresses = join(directory, 'addresses.json');
  const child = spawn(process.execPath, [join(root, 'packages/local-stack/dist/cli/test-stack.js'), addresses], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const ended = new Promise((done) => child.once('exit', done));
  const until = Date.now() + STACK_DEADLINE_MS;
  while (!existsSync(addresses)) {
    if (child.exitCode !== null || Date.now() > until)
      throw new Error('The test servers did not start; the lines above say why.');
    await new Promise((done) => setTimeout(done, 50));
  }
  const stop = async () => {
    const kill = setTimeout(() => child.kill('SIGKILL'), STACK_STOP_MS);
    child.kill('SIGTERM');
    await ended;
    clearTimeout(kill);
  };
  return { addresses, stop };
};

/** A long run tests full sizes, with random cases that no run before it had. */
const longRun = () => {
  const TEST_SEED = process.env.TEST_SEED ?? String(randomInt(2 ** 31));
  process.stdout.write(`TEST_SEED=${TEST_SEED} repeats this run.\n`);
  return { TEST_LONG: '1', TEST_SEED };
};

/** Counts of the tests; none passed if the run did not get to its end. */
const countsOfTests = () =>
  existsSync(COUNTS) ? JSON.parse(readFileSync(COUNTS, 'utf8')) : { passed: 0, failed: 0, skipped: 0, failures: [] };

checkNode();
await install();
await build();
rmSync(COUNTS, { force: true });

// The lint takes as long as the other two together, and each keeps one processor busy.
const checks = await step('checking types, lint and format', async () =>
  (await Promise.all([runChecks([LINT]), runChecks([TYPES, FORMAT])])).flat(),
);

const directory = mkdtempSync(join(tmpdir(), 'decision-test-'));
let testsExit = 1;
let servers;
try {
  servers = await step('starting the test servers', () => startServers(directory));
  testsExit = await step('testing', () => {
    const [node, jest] = installed('jest/bin/jest.js');
    return run(node, [jest], { env: { TEST_STACK: servers.addresses, ...(isLong ? longRun() : {}) } });
  });
} catch (error) {
  process.stderr.write(`${error.message}\n`);
} finally {
  await servers?.stop();
  rmSync(directory, { recursive: true, force: true });
}

const { passed, failed, skipped, failures } = countsOfTests();
// A run that broke before it counted, or after all had passed, has no test to name.
if (testsExit !== 0 && failures.length === 0)
  checks.push({ name: 'tests', exitCode: testsExit, output: 'The lines above say what happened.' });
const exitCode = testsExit !== 0 || checks.some((check) => check.exitCode !== 0) ? 1 : 0;
if (exitCode !== 0) {
  process.stdout.write(`${['Something failed:', ...describeFailures(checks, failures)].join('\n')}\n`);
}
process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
process.exit(exitCode);
