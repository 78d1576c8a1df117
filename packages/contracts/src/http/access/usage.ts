import { type Static, Type } from '@sinclair/typebox';
import { type Operation } from '../operation';
import { nullable, timestamp } from '../../page-schema';
import { described } from '../../described';

const count = Type.Number({ minimum: 0 });

export const UsageStatistics = Type.Object(
  {
    plan: Type.String({ description: 'Always `self-hosted`.' }),
    monthly_period_start: described(timestamp, 'The first moment of this month, UTC.'),
    monthly_period_end: Type.String({ format: 'date-time', description: 'The first moment of the next month, UTC.' }),
    monthly_executions_usage: Type.Number({
      minimum: 0,
      description: 'Rules and flows that were evaluated this month; each input of a bulk request counts.',
    }),
    monthly_executions_limit: described(nullable(count), 'Always null: there is no limit.'),
    monthly_executions_remaining: described(nullable(count), 'Always null: there is no limit.'),
    unlimited_plan: Type.Boolean({ description: 'Always true.' }),
    days_remaining_in_period: described(count, 'Whole days until the month ends.'),
    daily_average_usage: described(count, 'Evaluations a day of this month so far, with two decimals.'),
    counted_until: described(
      nullable(
        Type.String({
          format: 'date-time',
          description: 'When workers last added to the count; null if none ever did.',
        }),
      ),
      'When workers last added to the count; null if none ever did.',
    ),
  },
  { $id: 'UsageStatistics', description: 'How much the workspace decided this month.' },
);
export type UsageStatistics = Static<typeof UsageStatistics>;

export const getUsage = {
  service: 'objects-api',
  tag: 'Usage',
  id: 'getUsage',
  method: 'get',
  path: '/api/v1/admin/usage',
  pathParameters: [],
  summary: 'Read how much was decided this month',
  description: 'Counted by workers and stored in steps; `counted_until` says how far.',
  entitlement: 'usage.read',
  success: {
    status: 200,
    description: 'The counters of the current month, UTC.',
    schema: UsageStatistics,
    example: {
      plan: 'self-hosted',
      monthly_period_start: '2026-01-01T00:00:00.000Z',
      monthly_period_end: '2026-02-01T00:00:00.000Z',
      monthly_executions_usage: 120_000,
      monthly_executions_limit: null,
      monthly_executions_remaining: null,
      unlimited_plan: true,
      days_remaining_in_period: 16,
      daily_average_usage: 8_000,
      counted_until: '2026-01-15T09:30:00.000Z',
    },
  },
  errors: [],
} as const satisfies Operation;
