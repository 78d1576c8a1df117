'use strict';

const { once } = require('node:events');
const stopServers = require('@decision/local-stack/jest/global-teardown');

const DEADLINE_MS = 60_000;

/** Ends the shared fleet, if a test file asked for it, and then the servers. */
module.exports = async () => {
  await endHost(globalThis.sharedFleetHost);
  delete globalThis.sharedFleetHost;
  delete process.env.SHARED_FLEET;
  await stopServers();
};

const endHost = async (child) => {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), DEADLINE_MS);
  child.stdin.end();
  await ended;
  clearTimeout(timer);
};
