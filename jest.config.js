'use strict';

const preset = require('@decision/tooling/jest-preset');

/**
 * All tests in one run: its two workers take the longest files first, whatever package they are of. It is one project and not one for each
 * package: each project compiles and looks up every module that it loads for itself.
 */
module.exports = {
  ...preset,
  roots: ['packages', 'services', 'tests-e2e', 'benchmarks', 'charts'].map((folder) => `<rootDir>/${folder}`),
  testMatch: ['<rootDir>/**/{src,test}/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/(packages|services)/[^/]+/dist/'],
  // What writes parts of docs/ from the code asks no server.
  ...(process.env.WRITE_DOCS === '1'
    ? {}
    : {
        globalSetup: require.resolve('./tests-e2e/jest/global-setup.js'),
        globalTeardown: require.resolve('./tests-e2e/jest/global-teardown.js'),
      }),
  // Files that wait for servers leave a processor to others; more than two at once would crowd the fleets of the end-to-end tests.
  maxWorkers: 2,
  // Each file leaves some 15 MB behind. A worker that has grown is started anew between two files, long before its heap is full.
  workerIdleMemoryLimit: '1GB',
  logHeapUsage: true,
  // What takes milliseconds on an idle machine fails only where it hangs.
  testTimeout: 180_000,
  reporters: ['default', require.resolve('@decision/tooling/jest-count-reporter')],
  testSequencer: require.resolve('@decision/tooling/jest-longest-first'),
};
