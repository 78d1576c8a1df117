'use strict';

const { spawn } = require('node:child_process');
const { randomUUID } = require('node:crypto');
const { existsSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');

const DEADLINE_MS = 900_000;
const POLL_MS = 50;

/**
 * Gives the suite its servers. Those named by TEST_STACK are used where it is set, as `npm test` does for all packages; else
 * this starts temporary ones in a process of their own, from the sources, and the teardown ends them.
 */
module.exports = async () => {
  if (process.env.TEST_STACK) return;
  const addresses = join(tmpdir(), `decision-test-stack-${randomUUID()}.json`);
  const child = spawn(process.execPath, [...typeScript(), join(__dirname, '../src/cli/test-stack.ts'), addresses], {
    // Its standard input is a pipe from here: when this process dies it ends, and the servers with it.
    stdio: ['pipe', 'inherit', 'inherit'],
    // Ctrl-C must not reach it before the tests have ended.
    detached: true,
  });
  globalThis.ownTestStack = child;
  await untilWritten(addresses, child);
  process.env.TEST_STACK = addresses;
};

const typeScript = () => ['--conditions=source', '--import', pathToFileURL(require.resolve('tsx')).href];

const untilWritten = async (path, child) => {
  const until = Date.now() + DEADLINE_MS;
  while (!existsSync(path)) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error('The test servers did not start; the lines above say why.');
    }
    if (Date.now() > until) {
      child.kill('SIGTERM');
      throw new Error(`The test servers did not start within ${DEADLINE_MS / 1000} s.`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};
