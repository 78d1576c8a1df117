'use strict';

module.exports = {
  preset: '@decision/tooling',
  globalSetup: require.resolve('@decision/local-stack/jest/global-setup'),
  globalTeardown: require.resolve('@decision/local-stack/jest/global-teardown'),
};
