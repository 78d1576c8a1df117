/**
 * Assignment of an `update` that changes a row: its time of change is strictly later with each change, also of two within one millisecond.
 * The name of the table is needed where a statement knows several.
 */
export const changedNow = (table?: string): string =>
  `updated_at = greatest(clock_timestamp(), ${table === undefined ? '' : `${table}.`}updated_at + interval '1 millisecond')`;
