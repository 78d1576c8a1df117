import { type Broker } from '@decision/broker';
import { createEventCounter, type Logger, type Metrics, type Stopper } from '@decision/service-kit';
import { createDecisionLog, type DecisionLogWriter } from './decision-log';

export interface DecisionLogSurroundings {
  readonly broker: Broker;
  readonly workerId: string;
  readonly bufferBytes: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly stopper: Stopper;
}

/** Messages that wait at most; each holds the decisions of one request or chunk. */
const MAX_QUEUED = 50_000;
/** What still waits when the process stops is sent for this long at most, ms; the rest is dropped, and counted. */
const STOP_DRAIN_MS = 1_000;

/** The decision log of this process, with a producer of its own: a full or failing topic of logs never holds up an answer. */
export const openDecisionLog = (surroundings: DecisionLogSurroundings): DecisionLogWriter => {
  const { broker, workerId, bufferBytes, logger, metrics, stopper } = surroundings;
  const settled = metrics.counter({
    name: 'decision_logs_total',
    help: 'Decisions that were written to the topic of logs, or dropped.',
    labelNames: ['outcome'],
  });
  settled.inc({ outcome: 'dropped' }, 0);
  const producer = broker.createProducer({
    maxQueuedMessages: MAX_QUEUED,
    maxQueuedBytes: bufferBytes,
    onEvent: createEventCounter(metrics, 'decision_log'),
  });
  stopper.add('decision log', (drainMs) => producer.stop({ drainMs: Math.min(drainMs, STOP_DRAIN_MS) }));
  // Attempts go on behind; what waits is kept within the bounds.
  producer.connect().catch((error: unknown) => logger.warn({ err: error }, 'The decision log has no broker yet.'));
  return createDecisionLog({
    worker: workerId,
    producer,
    log: logger,
    onSettled: (outcome, decisions) => settled.inc({ outcome }, decisions),
    now: Date.now,
  });
};
