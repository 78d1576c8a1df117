'use strict';

const preset = require('@decision/tooling/jest-preset');

/** Checks that need Helm: `pnpm check:charts`. They are no part of `npm test`. */
module.exports = {
  ...preset,
  testMatch: ['<rootDir>/**/*.check.ts'],
  globalSetup: require.resolve('./prepare.js'),
  maxWorkers: 2,
  testTimeout: 300_000,
};
