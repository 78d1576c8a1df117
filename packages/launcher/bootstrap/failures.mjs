// Failures of a run of all checks and tests, for the last lines of `npm test`: reading only those must show what failed.
import { stripVTControlCharacters } from 'node:util';

const MOST_FAILURES = 50;
const MOST_LOG_LINES = 12;

const lastLines = (output) =>
  stripVTControlCharacters(output)
    .split('\n')
    .map((line) => line.trimEnd())
    .filter(Boolean)
    .slice(-MOST_LOG_LINES);

const block = (heading, lines) => [`✗ ${heading}`, ...lines.map((line) => `    ${line}`)];

/** One block of lines for each check that failed, with the end of what it printed. */
const blocksOfChecks = (checks) =>
  checks
    .filter(({ exitCode }) => exitCode !== 0)
    .map(({ name, exitCode, output }) => block(`${name} (exit code ${exitCode}), which ended with`, lastLines(output)));

/**
 * Lists failures with the first lines of their messages: at most fifty, and the number of further ones. `checks` are `{ name, exitCode,
 * output }`; `failures` are `{ file, title, message }`, as the reporter of the tests writes them.
 */
export const describeFailures = (checks, failures) => {
  const blocks = [
    ...blocksOfChecks(checks),
    ...failures.map(({ file, title, message }) => block(`${file}: ${title}`, message)),
  ];
  const more = blocks.length - MOST_FAILURES;
  return [...blocks.slice(0, MOST_FAILURES).flat(), ...(more > 0 ? [`✗ and ${more} more, in the lines above`] : [])];
};
