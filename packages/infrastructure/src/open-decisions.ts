import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Broker } from '@decision/broker';
import { type AssetKind, assetKinds } from '@decision/contracts';
import {
  createDecisionLog,
  createUsageCounter,
  type DecisionLogWriter,
  combineWriters,
  withoutDecisionLog,
} from '@decision/execution';
import { addUsage, type Database, refusesValues } from '@decision/persistence';
import { createDecisionLogObserver, exportQueue } from './observers';
import { type Metrics, type Secret } from '@decision/service-kit';
import { createLoggingPolicies, createMasks } from './logging-policies';
import { type Opening } from './opening';

interface DecisionsConfig {
  /** Whether decisions are written to the topic of logs; they are counted in any case. */
  readonly decisionLogs: boolean;
  /** Bytes that may wait for the broker; further decisions are dropped, and counted. */
  readonly decisionLogBufferBytes: number;
  readonly decisionLogMaskKey: Secret | undefined;
  /** Largest request, response and trace of one decision, bytes. */
  readonly decisionRecordMaxBytes: number;
  /** Largest message of logs, bytes. */
  readonly logMessageBytes: number;
}

type DecisionsOpening = Omit<Opening<DecisionsConfig>, 'name'>;

/** Largest number of waiting messages; each holds the decisions of one request or chunk. */
const MAX_QUEUED = 50_000;
/** Longest time to send waiting decisions when the process stops, ms; the rest are dropped, and counted. */
const STOP_DRAIN_MS = 1_000;

const WAIT_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60];

type LoggingPolicies = ReturnType<typeof createLoggingPolicies>;

/** Opens the writers of every decision of this process: the decision log and the usage counts. */
export const openDecisions = (broker: Broker, database: Database, opening: DecisionsOpening): DecisionLogWriter => {
  const policyOf = openPolicies(database, opening);
  const log = opening.config.decisionLogs ? openLog(broker, policyOf, opening) : undefined;
  const { record } = log ?? withoutDecisionLog(policyOf);
  const counters = combineWriters([openUsage(database, opening), createEvaluationCounter(opening.metrics)]);
  return {
    ...combineWriters([log, counters]),
    settled: log?.settled,
    record: (envelope, items) => {
      counters.write(envelope, items);
      return record?.(envelope, items);
    },
  };
};

/** Counts evaluations by outcome. */
const createEvaluationCounter = (metrics: Metrics): DecisionLogWriter => {
  // Not exported yet, which saves hashing labels with each message.
  const solved: Record<AssetKind, number> = { rule: 0, flow: 0 };
  const evaluations = metrics.counter({
    name: 'decision_evaluations_total',
    help: 'Inputs that were evaluated, by rule or flow, and by outcome: solved, or the code of the error.',
    labelNames: ['asset', 'outcome'],
    collect() {
      for (const asset of assetKinds) {
        if (solved[asset] > 0) this.inc({ asset, outcome: 'solved' }, solved[asset]);
        solved[asset] = 0;
      }
    },
  });
  return {
    write: ({ asset = 'rule' }, items) => {
      for (const { error } of items) {
        if (error === undefined) solved[asset] += 1;
        else evaluations.inc({ asset, outcome: error.code });
      }
    },
  };
};

/** The decision log of this process, without usage counts, with its own producer: a full or failing topic of logs never delays an answer. */
export const openDecisionLog = (
  broker: Broker,
  database: Database,
  opening: DecisionsOpening,
): DecisionLogWriter | undefined =>
  opening.config.decisionLogs ? openLog(broker, openPolicies(database, opening), opening) : undefined;

const openPolicies = (database: Database, { logger, metrics }: DecisionsOpening): LoggingPolicies => {
  const hidden = metrics.counter({
    name: 'decision_logs_hidden_total',
    help: 'Records that were written without request and response, since the database did not tell what of them may be logged.',
  });
  hidden.inc(0);
  return createLoggingPolicies({
    database,
    onUnknown: (error) => {
      hidden.inc();
      logger.warn({ err: error }, 'What of a decision may be logged is not known; its request and response are not.');
    },
  });
};

const openLog = (
  broker: Broker,
  policyOf: LoggingPolicies,
  { config, logger, metrics, stopper }: DecisionsOpening,
): DecisionLogWriter => {
  broker.watchTopics([{ topic: 'logs' }]);
  // Not exported yet.
  let stored = 0;
  const settled = metrics.counter({
    name: 'decision_logs_total',
    help: 'Decisions that were written to the topic of logs, or dropped.',
    labelNames: ['outcome'],
    collect() {
      if (stored > 0) this.inc({ outcome: 'stored' }, stored);
      stored = 0;
    },
  });
  settled.inc({ outcome: 'dropped' }, 0);
  const waits = metrics.histogram({
    name: 'decision_logs_wait_seconds',
    help: 'Time that answers waited until their decisions were on record, where that is required.',
    labelNames: ['outcome'],
    buckets: WAIT_BUCKETS,
  });
  const producer = broker.createProducer({
    maxQueuedMessages: MAX_QUEUED,
    maxQueuedBytes: config.decisionLogBufferBytes,
    onEvent: createDecisionLogObserver(metrics),
  });
  exportQueue(metrics, 'decision_log', producer);
  // The producer continues to connect in the background; waiting messages stay within the bounds above.
  producer.connect().catch((error: unknown) => logger.warn({ err: error }, 'The decision log has no broker yet.'));
  const decisions = createDecisionLog({
    name: `${hostname()}-${randomUUID()}`,
    producer,
    log: logger,
    policyOf,
    onWaited: (outcome, ms) => waits.observe({ outcome }, ms / 1_000),
    maxDecisionBytes: config.decisionRecordMaxBytes,
    maxMessageBytes: config.logMessageBytes,
    maskOf: createMasks(config.decisionLogMaskKey?.reveal()),
    onSettled: (outcome, count) => {
      if (outcome === 'stored') stored += count;
      else settled.inc({ outcome }, count);
    },
    now: Date.now,
  });
  stopper.add('decision log', (drainMs) => {
    decisions.close();
    return producer.stop({ drainMs: Math.min(drainMs, STOP_DRAIN_MS) });
  });
  return decisions;
};

const openUsage = (database: Database, { logger, metrics, stopper }: DecisionsOpening): DecisionLogWriter => {
  const dropped = metrics.counter({
    name: 'usage_dropped_total',
    help: 'Executions that could never be counted, for instance because their workspace does not exist.',
  });
  const usage = createUsageCounter({
    store: (workspaceId, batch) =>
      database.inWorkspace({ workspaceId, userGroups: undefined }, (transaction) => addUsage(transaction, batch)),
    newId: randomUUID,
    now: Date.now,
    isPermanent: refusesValues,
    onDropped: (executions, error) => {
      dropped.inc(executions);
      logger.warn({ err: error, executions }, 'Usage can never be stored and was dropped.');
    },
    onFailure: (error) => logger.warn({ err: error }, 'Usage could not be stored; it is kept for the next attempt.'),
  });
  stopper.add('usage', () => usage.stop());
  return usage;
};
