import { createEventCounter, type Logger, type Metrics } from '@decision/service-kit';
import { type UpkeepEvent } from './upkeep';

/** Counts what upkeep does and logs what takes long: one line for the steps of a round, not for each. */
export const createUpkeepTeller = (metrics: Metrics, logger: Pick<Logger, 'info'>): ((event: UpkeepEvent) => void) => {
  const countEvent = createEventCounter(metrics, 'upkeep');
  const rows = metrics.counter({
    name: 'decision_context_rows_removed_total',
    help: 'Rows that this process removed, of instances that had expired and of contexts that were deleted.',
    labelNames: ['cause'],
  });
  const takenOver = metrics.counter({
    name: 'decision_context_operations_taken_over_total',
    help: 'Operations that this process finished because the process that had begun them was silent.',
  });
  const untold = metrics.counter({
    name: 'decision_context_instances_told_late_total',
    help: 'Changed instances whose readers this process told because nobody else did.',
  });
  return (event) => {
    countEvent(event);
    if (event.type === 'operations_taken_over') takenOver.inc(event.count);
    if (event.type === 'instances_untold') untold.inc(event.count);
    if (event.type === 'instances_expired') rows.inc({ cause: 'expired' }, event.instances + event.history);
    if (event.type !== 'context_removal') return;
    rows.inc({ cause: 'deleted' }, event.removed);
    const { contextId, slug, instances, links, history, done } = event;
    const message = done ? 'A deleted context is removed.' : 'A deleted context is being removed.';
    logger.info({ contextId, slug, instances, links, history }, message);
  };
};
