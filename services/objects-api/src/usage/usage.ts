import { getUsage, type UsageStatistics } from '@decision/contracts';
import { accessOf } from '@decision/infrastructure';
import { type Database, type MonthlyUsage, readUsage } from '@decision/persistence';
import { bindOperation, type BoundOperation } from '@decision/service-kit';

interface UsageContext {
  readonly database: Database;
  /** Epoch ms. */
  readonly now: () => number;
}

/** The call /api/v1/admin/usage. */
export const usageRoutes = ({ database, now }: UsageContext): readonly BoundOperation[] => [
  bindOperation(getUsage, async ({ identity }) => {
    const moment = now();
    const period = periodOf(moment);
    const counted = await database.inWorkspace(accessOf(identity), (transaction) =>
      readUsage(transaction, period.month),
    );
    return usageStatistics(counted, period, moment);
  }),
];

const DAY_MS = 86_400_000;

/** A calendar month, UTC, over which usage is counted. */
interface UsagePeriod {
  /** The first day: `2026-01-01`. */
  readonly month: string;
  /** Epoch ms of its first moment, and of the first moment after it. */
  readonly start: number;
  readonly end: number;
}

/** The month of a moment, epoch ms. */
export const periodOf = (now: number): UsagePeriod => {
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const [start, end] = [Date.UTC(year, month), Date.UTC(year, month + 1)];
  return { month: new Date(start).toISOString().slice(0, 10), start, end };
};

/** Statistics of a month at a moment within it. The average is over the days that have begun. */
export const usageStatistics = (
  { executions, countedUntil }: MonthlyUsage,
  { start, end }: UsagePeriod,
  now: number,
): UsageStatistics => ({
  plan: 'self-hosted',
  monthly_period_start: new Date(start).toISOString(),
  monthly_period_end: new Date(end).toISOString(),
  monthly_executions_usage: executions,
  monthly_executions_limit: null,
  monthly_executions_remaining: null,
  unlimited_plan: true,
  days_remaining_in_period: Math.floor((end - now) / DAY_MS),
  daily_average_usage: Math.round((executions / Math.ceil((now - start + 1) / DAY_MS)) * 100) / 100,
  counted_until: countedUntil,
});
