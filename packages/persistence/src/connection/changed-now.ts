/**
 * Assignment of an `update` that changes a row: its time of change is strictly later with each change, even for two within one millisecond.
 * Statements with several tables need the name of the table.
 */
export const changedNow = (table?: string): string =>
  `updated_at = greatest(clock_timestamp(), ${table === undefined ? '' : `${table}.`}updated_at + interval '1 millisecond')`;
