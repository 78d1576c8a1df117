// What failed in a run of all tasks, for the last lines of `npm test`: who reads only those must learn what it was.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const MOST_FAILURES = 50;
const MOST_LOG_LINES = 12;

/** Where turbo writes the account of a run that was asked for with `--summarize`. */
const summariesOf = (root) => {
  const directory = join(root, '.turbo/runs');
  return existsSync(directory) ? readdirSync(directory).map((name) => join(directory, name)) : [];
};

/** Remembers the accounts that are there; what it returns reads, and removes, the one that has come since. */
export const watchTasks = (root) => {
  const before = new Set(summariesOf(root));
  return () => {
    const [path] = summariesOf(root).filter((one) => !before.has(one));
    if (path === undefined) return [];
    const { tasks } = JSON.parse(readFileSync(path, 'utf8'));
    rmSync(path);
    return tasks;
  };
};

const lastLines = (path) => {
  if (!existsSync(path)) return [];
  const lines = stripVTControlCharacters(readFileSync(path, 'utf8')).split('\n');
  return lines
    .map((line) => line.trimEnd())
    .filter(Boolean)
    .slice(-MOST_LOG_LINES);
};

const block = (heading, lines) => [`✗ ${heading}`, ...lines.map((line) => `    ${line}`)];

/** What a package says of its failed tests, as `{ file, title, message }`; nothing where its tests did not get so far. */
const testFailures = (root, directory) => {
  const counts = join(root, directory, 'test-results/counts.json');
  return existsSync(counts) ? (JSON.parse(readFileSync(counts, 'utf8')).failures ?? []) : [];
};

/** One block of lines for each failed test, and one with the end of its log for each task that failed otherwise. */
const blocksOf = (root, { task, directory, logFile, execution }) => {
  if (!execution || execution.exitCode === 0) return [];
  const tests = task === 'test' ? testFailures(root, directory) : [];
  if (tests.length === 0) {
    const heading = `${directory} ${task} (exit code ${execution.exitCode}), which ended with`;
    return [block(heading, lastLines(join(root, logFile)))];
  }
  return tests.map(({ file, title, message }) => block(`${directory}/${file}: ${title}`, message));
};

/** Names what failed among tasks of turbo, with the first lines of the reasons: at most fifty failures, and how many more. */
export const describeFailures = (root, tasks) => {
  const blocks = tasks.flatMap((task) => blocksOf(root, task));
  const more = blocks.length - MOST_FAILURES;
  return [...blocks.slice(0, MOST_FAILURES).flat(), ...(more > 0 ? [`✗ and ${more} more, in the lines above`] : [])];
};
