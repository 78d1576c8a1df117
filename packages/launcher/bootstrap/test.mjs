// `npm test`: installs, builds, checks types, lint and format, then starts one set of real servers and runs the tests of every package on
// them. `npm run test:long` (`--long`) does the same at full sizes, of which a usual run takes a tenth.
import { randomInt } from 'node:crypto';
import { describeFailures } from './failures.mjs';
import { installed, runTests, startTestServers } from './test-run.mjs';
import { build, checkNode, install, runQuietly, step } from './toolchain.mjs';

const isLong = process.argv.includes('--long');

/** What earlier runs found of files that have not changed since: of types by all that a file uses, of format by its content. The lint looks at types of other files and keeps nothing. */
const KEPT = 'node_modules/.cache';
const KEPT_TYPES = ['--incremental', '--tsBuildInfoFile', `${KEPT}/types.tsbuildinfo`];
const KEPT_FORMAT = ['--cache', '--cache-strategy', 'content', '--cache-location', `${KEPT}/format`];

const TYPES = {
  name: 'type check',
  command: [...installed('typescript/bin/tsc'), '-p', 'tsconfig.json', ...KEPT_TYPES],
};
const LINT = { name: 'lint', command: [...installed('eslint/bin/eslint.js'), '.'] };
const FORMAT = { name: 'format', command: [...installed('prettier/bin/prettier.cjs'), '--check', ...KEPT_FORMAT, '.'] };

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

/** A long run tests full sizes, with a new random seed. */
const longRun = () => {
  const TEST_SEED = process.env.TEST_SEED ?? String(randomInt(2 ** 31));
  process.stdout.write(`TEST_SEED=${TEST_SEED} repeats this run.\n`);
  return { TEST_LONG: '1', TEST_SEED };
};

checkNode();
await install();
await build();

// The lint takes as long as the other two together, and each keeps one processor busy.
const checks = await step('checking types, lint and format', async () =>
  (await Promise.all([runChecks([LINT]), runChecks([TYPES, FORMAT])])).flat(),
);

let tests = { exitCode: 1, counts: { passed: 0, failed: 0, skipped: 0, failures: [] } };
let servers;
try {
  servers = await step('starting the test servers', startTestServers);
  tests = await step('testing', () => runTests([], { TEST_STACK: servers.addresses, ...(isLong ? longRun() : {}) }));
} catch (error) {
  process.stderr.write(`${error.message}\n`);
} finally {
  await servers?.stop();
}

const { passed, failed, skipped, failures } = tests.counts;
// A run that broke before it counted, or after all had passed, has no test to name.
if (tests.exitCode !== 0 && failures.length === 0)
  checks.push({ name: 'tests', exitCode: tests.exitCode, output: 'The lines above say what happened.' });
const exitCode = tests.exitCode !== 0 || checks.some((check) => check.exitCode !== 0) ? 1 : 0;
if (exitCode !== 0) {
  process.stdout.write(`${['Something failed:', ...describeFailures(checks, failures)].join('\n')}\n`);
}
process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
process.exit(exitCode);
