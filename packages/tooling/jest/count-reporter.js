'use strict';

const { mkdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { failuresOf } = require('./failures.js');

/** Writes `test-results/counts.json`, from which `npm test` prints the totals of all packages and what failed. */
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
  }
};
