'use strict';

module.exports = {
  preset: '@decision/tooling',
  globalSetup: require.resolve('@decision/local-stack/jest/global-setup'),
  globalTeardown: require.resolve('@decision/local-stack/jest/global-teardown'),
  testTimeout: 180_000,
  // Each file starts a fleet of its own; two at once are what two cores can bear.
  maxWorkers: 2,
};
