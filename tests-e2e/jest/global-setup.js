'use strict';

const { spawn } = require('node:child_process');
const { mkdtempSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const startServers = require('@decision/local-stack/jest/global-setup');

/**
 * Gives the run its servers, and the process that starts the shared fleet for the first test file that asks at the socket which
 * SHARED_FLEET names. A run of other files alone starts no fleet.
 */
module.exports = async () => {
  await startServers();
  const directory = mkdtempSync(join(tmpdir(), 'decision-fleet-'));
  process.env.SHARED_FLEET = join(directory, 'socket');
  const typeScript = ['--conditions=source', '--import', pathToFileURL(require.resolve('tsx')).href];
  const child = spawn(
    process.execPath,
    [...typeScript, join(__dirname, '../test/fleet/shared-fleet-host.ts'), directory],
    {
      // Its standard input is a pipe from here: when this process dies it ends, and the fleet with it.
      stdio: ['pipe', 'inherit', 'inherit'],
      // Ctrl-C must not reach it before the tests have ended.
      detached: true,
    },
  );
  child.stdin.on('error', () => undefined); // its exit says more
  globalThis.sharedFleetHost = child;
};
