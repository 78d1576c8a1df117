'use strict';

const { once } = require('node:events');

const DEADLINE_MS = 15_000;

/** Ends the servers that the global setup started, and waits until they and their data are gone. */
module.exports = async () => {
  const child = globalThis.ownTestStack;
  if (child === undefined) return;
  delete globalThis.ownTestStack;
  delete process.env.TEST_STACK;
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), DEADLINE_MS);
  child.stdin.end();
  child.kill('SIGTERM');
  await ended;
  clearTimeout(timer);
};
