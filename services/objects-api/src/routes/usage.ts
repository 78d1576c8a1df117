import { getUsage } from '@decision/contracts';
import { type Database, readUsage } from '@decision/persistence';
import { bindOperation, type BoundOperation } from '@decision/service-kit';
import { accessOf } from '../access';
import { periodOf, usageStatistics } from '../usage/usage-statistics';

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
