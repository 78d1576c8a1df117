// `pnpm test:repeat [rounds] [part of a path ...]`: runs each test file that starts servers or services many times on a busy machine, and
// names every failure. An interrupted call is continued by the next one; `--anew` starts over.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describeFailures } from './failures.mjs';
import { installed, runTests, startTestServers } from './test-run.mjs';
import { build, checkNode, install, refuse, root, runQuietly, step } from './toolchain.mjs';

const ROUNDS = 10;
/** At normal priority, so that tests get about half of two processors. */
const SPINNERS = 2;
/** Folders of tests that start servers or services. */
const STARTS_SERVERS =
  /^(tests-e2e|services\/[^/]+|packages\/(broker|cache|connectors|infrastructure|launcher|local-stack|persistence|service-kit))\/test\//;
const RESULTS = join(root, 'test-results');
const STATE = join(RESULTS, 'repeat.json');

/** `done` has `round file` for each finished run, `failures` the entries of the test reporter with their rounds. */
const readState = () => {
  try {
    return JSON.parse(readFileSync(STATE, 'utf8'));
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return { done: [], failures: [] };
  }
};

const writeState = (state) => {
  mkdirSync(RESULTS, { recursive: true });
  // Renamed into place: a run that is killed while it writes leaves the previous state.
  writeFileSync(`${STATE}.new`, JSON.stringify(state, null, 2));
  renameSync(`${STATE}.new`, STATE);
};

/** Test files below the folders whose path contains one of the parts; all of them if no part is given. */
const listFiles = async (parts) => {
  const [node, jest] = installed('jest/bin/jest.js');
  const { exitCode, output } = await runQuietly(node, [jest, '--listTests', '--json']);
  if (exitCode !== 0) refuse(output);
  const paths = JSON.parse(output.slice(output.indexOf('['), output.lastIndexOf(']') + 1));
  const files = paths.map((path) => relative(root, path)).filter((file) => STARTS_SERVERS.test(file));
  return files.filter((file) => parts.length === 0 || parts.some((part) => file.includes(part))).sort();
};

/** Keeps a processor busy until its parent process is gone, however that ended. */
const SPIN = 'const parent = process.ppid; while (process.ppid === parent);';

const startSpinners = () => {
  const children = Array.from({ length: SPINNERS }, () => spawn(process.execPath, ['-e', SPIN]));
  const stop = () => children.forEach((child) => child.kill('SIGKILL'));
  process.once('exit', stop);
  return stop;
};

/** Runs a file once; its failures name the round, and a run that failed without naming a test counts as one failure. */
const runOnce = async (round, file, addresses) => {
  const { exitCode, counts } = await runTests(['--runTestsByPath', file], { TEST_STACK: addresses });
  const broken = { file, title: 'the run as a whole', message: [`jest ended with exit code ${exitCode}`] };
  const failures = exitCode !== 0 && counts.failures.length === 0 ? [broken] : counts.failures;
  return failures.map((failure) => ({ ...failure, title: `${failure.title} (round ${round})` }));
};

const [first, ...rest] = process.argv.slice(2).filter((argument) => argument !== '--anew');
const isCount = /^\d+$/.test(first ?? '');
const rounds = isCount ? Number(first) : ROUNDS;
const parts = isCount || first === undefined ? rest : [first, ...rest];

checkNode();
await install();
await build();
if (process.argv.includes('--anew')) rmSync(STATE, { force: true });
const state = readState();
const files = await listFiles(parts);
const runs = Array.from({ length: rounds }, (_, at) => files.map((file) => ({ round: at + 1, file }))).flat();
const open = runs.filter(({ round, file }) => !state.done.includes(`${round} ${file}`));
process.stdout.write(
  `${runs.length - open.length} of ${runs.length} runs are done, which test-results/repeat.json holds.\n`,
);

const servers = await step('starting the test servers', startTestServers);
const stopSpinners = startSpinners();
let isEnding = false;
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => (isEnding = true));
try {
  for (const { round, file } of open) {
    const failures = await runOnce(round, file, servers.addresses);
    // The signal has reached jest too: the interrupted run does not count, and the next call repeats it.
    if (isEnding) break;
    state.done.push(`${round} ${file}`);
    state.failures.push(...failures);
    writeState(state);
  }
} finally {
  stopSpinners();
  await servers.stop();
}

process.stdout.write(`${describeFailures([], state.failures).join('\n')}\n`);
process.stdout.write(`${state.done.length} runs done, ${state.failures.length} failures\n`);
process.exit(state.failures.length > 0 || isEnding ? 1 : 0);
