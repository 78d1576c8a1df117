'use strict';

const { TestEnvironment } = require('jest-environment-node');

/**
 * The node environment, with the real list of open resources made visible to the leak check. Intervals end with their file: one that keeps no process
 * alive would otherwise run minutes later, in the middle of another file of the same worker, and fail that.
 */
module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.openResources = () => process.getActiveResourcesInfo();
    this.intervals = new Set();
    const { setInterval, clearInterval } = this.global;
    this.global.setInterval = (...given) => {
      const interval = setInterval(...given);
      this.intervals.add(interval);
      return interval;
    };
    this.global.clearInterval = (interval) => {
      this.intervals?.delete(interval);
      clearInterval(interval);
    };
  }

  async teardown() {
    for (const interval of this.intervals) clearInterval(interval);
    this.intervals = undefined;
    await super.teardown();
  }

  /** Hooks run in the order in which they were registered; the leak check must come after those of the test file. */
  handleTestEvent(event, state) {
    if (event.name !== 'run_start') return;
    const { hooks } = state.rootDescribeBlock;
    const isLeakCheck = ({ fn }) => fn.isLeakCheck === true;
    hooks.push(...hooks.splice(0).sort((a, b) => Number(isLeakCheck(a)) - Number(isLeakCheck(b))));
  }
};
