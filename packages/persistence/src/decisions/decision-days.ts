import { ServiceError } from '@decision/contracts';
import { type Database } from '../connection/database';
import { DatabaseFault } from '../connection/translate-error';

/** The days, `YYYY-MM-DD` in UTC, for which the decision log has a partition. */
export const listDecisionDays = async (database: Pick<Database, 'lookUp'>): Promise<ReadonlySet<string>> => {
  const rows = await database.lookUp<{ day: string }>(
    `select to_char(day, 'YYYY-MM-DD') as day from decision_log_days()`,
  );
  return new Set(rows.map(({ day }) => day));
};

/** Creates the missing partition of a day, at most 8 days ahead. Throws `database_unavailable` if a lock cannot be obtained. */
export const makeDecisionDay = async (database: Pick<Database, 'lookUp'>, day: string): Promise<void> => {
  await database.lookUp('select make_decision_log_day(cast(:day as date))', { day });
};

/** Drops the oldest partition that ends before a day; answers its day, null if there is none. Throws as {@link makeDecisionDay}: try again later. */
export const dropDecisionDay = async (database: Pick<Database, 'lookUp'>, before: string): Promise<string | null> => {
  const sql = `select to_char(drop_decision_log_day(cast(:before as date)), 'YYYY-MM-DD') as day`;
  const [row] = await database.lookUp<{ day: string | null }>(sql, { before });
  return row?.day ?? null;
};

const NO_PARTITION = '23514';
const VALUES = /^(22|54)/;

/** Whether a batch was refused because one of its days no longer has a partition. */
export const lacksDecisionDay = (error: unknown): boolean => sqlStateOf(error) === NO_PARTITION;

/** Whether a batch was refused because the database cannot store one of its records, now or later. */
export const refusesDecisions = (error: unknown): boolean => VALUES.test(sqlStateOf(error) ?? '');

const sqlStateOf = (error: unknown): string | undefined =>
  error instanceof ServiceError && error.cause instanceof DatabaseFault ? error.cause.sqlState : undefined;
