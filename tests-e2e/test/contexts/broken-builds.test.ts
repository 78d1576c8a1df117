import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/* The broken builds that the checker of histories must catch: each replaces code of a service that must still be there. */

const ROOT = join(__dirname, '../../..');
const HOOK = require.resolve('../../src/histories/broken-build.cjs');

/** Starts a service without any configuration; answers what it writes before it ends. */
const start = (service: string, build: string): string => {
  const script = join(ROOT, 'services', service, 'dist/main.js');
  const env = { PATH: process.env['PATH'], BROKEN_BUILD: build };
  return spawnSync(process.execPath, ['--require', HOOK, script], { env, encoding: 'utf8', timeout: 20_000 }).stderr;
};

it.each([
  ['contexts-api', 'write-back-without-fence'],
  ['contexts-api', 'lost-predecessor'],
  ['contexts-api', 'partial-take-over'],
  ['contexts-api', 'stale-executions'],
  ['contexts-api', 'stale-read'],
  ['solve-worker', 'forgotten-steps'],
])('the code of %s holds what the build %s replaces', (service, build) => {
  expect(start(service, build)).toContain('The configuration has a fault');
});

it('a build is refused if nobody knows it', () => {
  expect(start('contexts-api', 'unknown')).toContain('BROKEN_BUILD must be one of');
});
