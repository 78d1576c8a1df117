'use strict';

const { mkdirSync, writeFileSync } = require('node:fs');
const { join, relative } = require('node:path');
const { failuresOf } = require('./failures.js');

/** A line for each file with what it took, s; the longest first. */
const durationsOf = (directory, testResults) =>
  testResults
    .map(({ testFilePath, perfStats: { start, end } }) => ({
      file: relative(directory, testFilePath),
      ms: end - start,
    }))
    .sort((a, b) => b.ms - a.ms)
    .map(({ file, ms }) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${file}\n`)
    .join('');

/**
 * Writes `test-results/counts.json`, from which `npm test` prints the totals and what failed, and `durations.txt`: what each file took, the
 * longest first.
 */
module.exports = class {
  constructor(globalConfig) {
    this.directory = globalConfig.rootDir;
  }

  onRunComplete(_contexts, results) {
    const counts = {
      passed: results.numPassedTests,
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
      failures: failuresOf(this.directory, results),
    };
    const written = join(this.directory, 'test-results');
    mkdirSync(written, { recursive: true });
    writeFileSync(join(written, 'counts.json'), JSON.stringify(counts));
    writeFileSync(join(written, 'durations.txt'), durationsOf(this.directory, results.testResults));
  }
};
