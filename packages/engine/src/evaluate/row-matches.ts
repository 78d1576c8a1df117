import { type CompiledRow } from '../compile/compiled-rule';

/** Whether a row is in force and its conditions hold: all of them, or one of them where it is joined with OR. */
export const rowMatches = (
  { cells, isOr, schedule }: CompiledRow,
  values: readonly unknown[],
  now: number,
): boolean => {
  if (schedule !== undefined && !schedule(now)) return false;
  if (cells.length === 0) return true;
  return isOr
    ? cells.some(({ matches, field }) => matches(values[field]))
    : cells.every(({ matches, field }) => matches(values[field]));
};
