import { setTimeout as sleep } from 'node:timers/promises';
import { requireDatabase } from '@decision/persistence';
import { StartRefusal } from '@decision/service-kit';
import { describeFailure, type Environment, type Print, requireVariable, runCli } from './run-cli';

const DEFAULT_SECONDS = 600;
const PAUSE_MS = 2_000;

/**
 * `DATABASE_URL=... node dist/cli/await-schema.js`: resolves with 0 once the database has the schema of this release and lets its user work, whatever is
 * in the way until then: no server, no such login, migrations that have not run. What it waits for is one line each time it changes.
 * `AWAIT_SCHEMA_SECONDS` bounds the wait (default 600); after it the answer is 1, or 0 with `AWAIT_SCHEMA_GO_ON=true`.
 */
export const awaitSchema = async (environment: Environment, print: Print): Promise<number> => {
  const url = requireVariable(environment, 'DATABASE_URL', 'postgresql://user:password@host:5432/name');
  const seconds = Number(environment['AWAIT_SCHEMA_SECONDS'] || DEFAULT_SECONDS);
  if (!Number.isInteger(seconds) || seconds < 1)
    throw new StartRefusal('AWAIT_SCHEMA_SECONDS must be a whole number above 0.');
  const until = performance.now() + seconds * 1_000;
  for (let said = ''; ;) {
    const problem = await problemOf(url);
    if (problem === undefined) return 0;
    if (problem !== said) print(`Waiting for the database: ${problem}`);
    said = problem;
    if (performance.now() + PAUSE_MS > until) break;
    await sleep(PAUSE_MS);
  }
  const goesOn = environment['AWAIT_SCHEMA_GO_ON'] === 'true';
  print(`The database was not ready within ${seconds} seconds; ${goesOn ? 'going on without it' : 'giving up'}.`);
  return goesOn ? 0 : 1;
};

const problemOf = async (url: string): Promise<string | undefined> => {
  try {
    await requireDatabase(url, { deadlineMs: 0 });
    return undefined;
  } catch (error) {
    return describeFailure(error);
  }
};

if (require.main === module) runCli(awaitSchema);
