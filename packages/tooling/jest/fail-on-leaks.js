'use strict';

/**
 * After the last test of a file, everything that the file opened must be closed: sockets, servers, child processes,
 * threads. What is still open ten seconds later fails the file and is named: a busy machine may take its time to close.
 */
const WATCHED = new Set([
  'TCPSocketWrap',
  'TCPServerWrap',
  'PipeConnectWrap',
  'PipeServerWrap',
  'ProcessWrap',
  'MessagePort',
  'FSEventWrap',
]);

const count = () => {
  const counts = new Map();
  for (const name of globalThis.openResources()) if (WATCHED.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
};

let before;
beforeAll(() => {
  before = count();
});

const leftOpen = () => {
  const found = [];
  for (const [name, total] of count()) {
    const extra = total - (before.get(name) ?? 0);
    if (extra > 0) found.push(`${extra} x ${name}`);
  }
  return found;
};

const failOnLeaks = async () => {
  for (let attempt = 0; attempt < 200 && leftOpen().length > 0; attempt += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const found = leftOpen();
  if (found.length > 0)
    throw new Error(`This test file left something open: ${found.join(', ')}. Close it in afterEach or afterAll.`);
};
failOnLeaks.isLeakCheck = true; // the environment runs it last
afterAll(failOnLeaks);
