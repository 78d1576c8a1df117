// `npm test`: installs, builds, starts one set of real servers for all suites, then lints, type checks and tests every package.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeFailures, watchTasks } from './failures.mjs';
import { build, checkNode, install, root, step, turbo } from './toolchain.mjs';

const STACK_DEADLINE_MS = 600_000;
const STACK_STOP_MS = 15_000;

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

const suites = () =>
  ['packages', 'services']
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(root, folder, name)))
    .concat(join(root, 'tests-e2e'), join(root, 'benchmarks'))
    .map((home) => join(home, 'test-results'));

/** Sums what each suite counted. */
const total = () => {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const directory of suites()) {
    const file = join(directory, 'counts.json');
    if (!existsSync(file)) continue;
    const counts = JSON.parse(readFileSync(file, 'utf8'));
    for (const key of Object.keys(sum)) sum[key] += counts[key];
  }
  return sum;
};

checkNode();
await install();
await build();

const directory = mkdtempSync(join(tmpdir(), 'decision-test-'));
const tasks = watchTasks(root);
let exitCode = 1;
let servers;
try {
  servers = await step('starting the test servers', () => startServers(directory));
  for (const results of suites()) rmSync(results, { recursive: true, force: true });
  exitCode = await step('linting, type checking, testing', () =>
    // Tests always run: that they passed before says nothing about the servers of this run.
    turbo(
      [
        'run',
        'lint',
        'typecheck',
        'test',
        '--continue',
        '--concurrency=2',
        '--log-order=grouped',
        '--output-logs=new-only',
        '--force',
        '--summarize',
      ],
      {
        TEST_STACK: servers.addresses,
      },
    ),
  );
} catch (error) {
  process.stderr.write(`${error.message}\n`);
} finally {
  await servers?.stop();
  rmSync(directory, { recursive: true, force: true });
}

const { passed, failed, skipped } = total();
const described = describeFailures(root, tasks());
if (exitCode !== 0) {
  const heading = described.length > 0 ? 'Something failed:' : 'Something failed: the lines above say what.';
  process.stdout.write(`${[heading, ...described].join('\n')}\n`);
}
process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
process.exit(exitCode);
