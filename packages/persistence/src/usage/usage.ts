import { query, type Transaction } from '../connection/query';

/** Executions that were counted. */
export interface UsageBatch {
  /** A UUID; adding a batch again under the same id within a day changes nothing. */
  readonly id: string;
  /** The first day of the month, UTC: `2026-01-01`. */
  readonly month: string;
  /** 1 or more. */
  readonly executions: number;
}

/** Counts of a month. */
export interface MonthlyUsage {
  readonly executions: number;
  /** ISO 8601 UTC with milliseconds; null if nothing was ever counted in the month. */
  readonly countedUntil: string | null;
}

const ADD = /* sql */ `
  with forgotten as (
    delete from usage_batches where created_at < clock_timestamp() - interval '1 day'
  ), fresh as (
    insert into usage_batches (id) values (cast(:id as uuid)) on conflict do nothing returning id
  )
  insert into usage_counters (month, executions)
  select cast(:month as date), cast(:executions as bigint) from fresh
  on conflict (workspace_id, month) do update
  set executions = usage_counters.executions + excluded.executions, updated_at = clock_timestamp()`;

const READ = /* sql */ `select executions, updated_at from usage_counters where month = cast(:month as date)`;

/** Adds a batch to the counter of the workspace. */
export const addUsage = async (transaction: Transaction, { id, month, executions }: UsageBatch): Promise<void> => {
  await query(transaction, ADD, { id, month, executions });
};

/** The counter of a month. `month` is its first day, UTC. */
export const readUsage = async (transaction: Transaction, month: string): Promise<MonthlyUsage> => {
  const [row] = await query<{ executions: string; updated_at: Date }>(transaction, READ, { month });
  return row
    ? { executions: Number(row.executions), countedUntil: row.updated_at.toISOString() }
    : { executions: 0, countedUntil: null };
};
