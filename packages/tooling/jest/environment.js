'use strict';

const { TestEnvironment } = require('jest-environment-node');

/** The node environment, with the real list of open resources made visible to the leak check. */
module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.openResources = () => process.getActiveResourcesInfo();
  }

  /** Hooks run in the order in which they were registered; the leak check must come after those of the test file. */
  handleTestEvent(event, state) {
    if (event.name !== 'run_start') return;
    const { hooks } = state.rootDescribeBlock;
    const isLeakCheck = ({ fn }) => fn.isLeakCheck === true;
    hooks.push(...hooks.splice(0).sort((a, b) => Number(isLeakCheck(a)) - Number(isLeakCheck(b))));
  }
};
