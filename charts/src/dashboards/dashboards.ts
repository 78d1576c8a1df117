import { contexts } from './contexts';
import { type Dashboard } from './dashboard-model';
import { decisionLogs } from './decision-logs';
import { overview } from './overview';
import { broker, databaseAndCache } from './servers';
import { solving } from './solving';

/** In the order in which an operator looks at them. */
export const dashboards: readonly Dashboard[] = [overview, solving, contexts, decisionLogs, broker, databaseAndCache];
