import { periodOf, usageStatistics } from './usage';

const at = (text: string): number => Date.parse(text);

it.each([
  ['2026-01-01T00:00:00.000Z', '2026-01-01', '2026-02-01T00:00:00.000Z', 31, 310],
  ['2026-01-31T23:59:59.999Z', '2026-01-01', '2026-02-01T00:00:00.000Z', 0, 10],
  ['2026-12-15T12:00:00.000Z', '2026-12-01', '2027-01-01T00:00:00.000Z', 16, 20.67],
  ['2028-02-29T06:00:00.000Z', '2028-02-01', '2028-03-01T00:00:00.000Z', 0, 10.69],
])('at %s counts the month from %s', (now, month, end, remaining, average) => {
  const period = periodOf(at(now));
  expect(period.month).toBe(month);
  expect(usageStatistics({ executions: 310, countedUntil: null }, period, at(now))).toMatchObject({
    monthly_period_end: end,
    monthly_executions_usage: 310,
    days_remaining_in_period: remaining,
    daily_average_usage: average,
    unlimited_plan: true,
  });
});
