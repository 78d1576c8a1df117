'use strict';

const { mkdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

/** Writes `test-results/counts.json`, from which `npm test` prints the totals of all packages. */
module.exports = class {
  constructor(globalConfig) {
    this.directory = join(globalConfig.rootDir, 'test-results');
  }

  onRunComplete(_contexts, results) {
    mkdirSync(this.directory, { recursive: true });
    const counts = {
      passed: results.numPassedTests,
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
    };
    writeFileSync(join(this.directory, 'counts.json'), JSON.stringify(counts));
  }
};
