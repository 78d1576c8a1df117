import { parseArgs } from 'node:util';
import { readRecords } from '@decision/decision-archive';
import { openDatabase, storeDecisions } from '@decision/persistence';
import { databaseSettings, readConfig } from '@decision/service-kit';
import { createLogDays } from '../collecting/days';
import { settings } from '../config';
import { type ArchiveCommand, CommandRefusal, readDates } from './archive-command';
import { openTools } from './open-tools';

export const REBUILD_USAGE =
  'rebuild --from YYYY-MM-DD --to YYYY-MM-DD: stores the decisions of these days in the table of DATABASE_URL, where they are missing';

/** Stores decisions of the archive in the log table; those that it has stay as they are, so it may be done again. */
export const rebuildCommand: ArchiveCommand = async ({ opened, config: bounds, environment, args, say, now }) => {
  const dates = readArguments(args);
  const { retentionDays } = settings;
  const config = readConfig({ ...databaseSettings, retentionDays }, environment);
  const database = openDatabase({ url: config.databaseUrl.reveal(), applicationName: 'log-collector' });
  const days = createLogDays({ database, retentionDays: config.retentionDays, now });
  const { tools, stop } = await openTools(opened, bounds);
  try {
    for (const date of dates) {
      if (days.outcomeOf(date) !== 'kept') {
        say(`${date}: the table keeps ${config.retentionDays} days (LOG_TABLE_RETENTION_DAYS), and not this one.`);
        continue;
      }
      await days.ensure([date]);
      let [stored, repeated] = [0, 0];
      for (const folder of await tools.store.folders('decisions/')) {
        const workspaceId = folder.slice('workspace='.length);
        for await (const records of readRecords({ ...tools, workspaceId, date })) {
          const outcome = await storeDecisions(database, workspaceId, records, []);
          stored += outcome.stored;
          repeated += outcome.repeated;
        }
      }
      say(`${date}: ${stored} inputs were stored, and ${repeated} were there.`);
    }
    return 0;
  } finally {
    await stop();
    await database.close();
  }
};

const readArguments = (args: readonly string[]): readonly string[] => {
  let values;
  try {
    const text = { type: 'string' } as const;
    ({ values } = parseArgs({ args: [...args], options: { from: text, to: text }, strict: true }));
  } catch (error) {
    throw new CommandRefusal(`${error instanceof Error ? error.message : String(error)} Usage: ${REBUILD_USAGE}.`);
  }
  return readDates(values.from, values.to, REBUILD_USAGE);
};
