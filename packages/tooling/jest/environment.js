'use strict';

const { TestEnvironment } = require('jest-environment-node');

/** The node environment, with the real list of open resources made visible to the leak check. */
module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.openResources = () => process.getActiveResourcesInfo();
  }
};
