import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { RULES } from './support/measure-retained-bytes';

const PROGRAM = join(__dirname, 'support/measure-retained-bytes.ts');
const RUN_SOURCES = require.resolve('@decision/tooling/run-sources');

/** In both directions: the estimate bounds memory, and must not make a cache store far less than it could. */
const MOST_ERROR = 2;

it.each(Object.keys(RULES))('E-172 the bytes of a rule are those that it keeps alive: %s', async (name) => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...['--expose-gc', '--conditions=source', '--require', RUN_SOURCES],
    ...[PROGRAM, name],
  ]);
  const [measured, estimated] = JSON.parse(stdout) as [number, number];
  const ratio = estimated / measured;
  expect([measured, estimated, ratio > 1 / MOST_ERROR && ratio < MOST_ERROR]).toEqual([measured, estimated, true]);
});
