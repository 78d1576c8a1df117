'use strict';

module.exports = {
  preset: '@decision/tooling',
  globalSetup: require.resolve('@decision/local-stack/jest/global-setup'),
  globalTeardown: require.resolve('@decision/local-stack/jest/global-teardown'),
  // Most of these tests wait, for brokers and for sessions that end; two files at once take half the time and little of two cores.
  maxWorkers: 2,
};
