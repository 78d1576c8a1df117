'use strict';

/** All tests in one run: its two workers take the longest files first, whatever package they are of. */
module.exports = {
  projects: ['<rootDir>/packages/*', '<rootDir>/services/*', '<rootDir>/tests-e2e', '<rootDir>/benchmarks'],
  // Files that wait for servers leave a processor to others; more than two at once would crowd the fleets of the end-to-end tests.
  maxWorkers: 2,
  // A worker that has grown is started anew between two files.
  workerIdleMemoryLimit: '2GB',
  // Jest takes it from here alone, not from the projects: what takes milliseconds on an idle machine fails only where it hangs.
  testTimeout: 180_000,
  reporters: ['default', require.resolve('@decision/tooling/jest-count-reporter')],
  testSequencer: require.resolve('@decision/tooling/jest-longest-first'),
};
