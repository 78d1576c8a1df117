'use strict';

module.exports = {
  preset: '@decision/tooling',
  globalSetup: require.resolve('./jest/global-setup.js'),
  globalTeardown: require.resolve('./jest/global-teardown.js'),
  testTimeout: 180_000,
};
