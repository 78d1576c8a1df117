import { type Metrics } from '@decision/service-kit';
import { type LineEvent } from './line';

/** Events of operations on instances, for metrics. */
export type OperationEvent =
  | LineEvent
  /** Instances are busy with an operation of this process, under its own fences. Followed by the end of the hold. */
  | { readonly type: 'hold_began'; readonly instances: number }
  | { readonly type: 'hold_ended'; readonly instances: number }
  /** An instance was settled, with the number of rounds in which assets ran. */
  | { readonly type: 'settled'; readonly rounds: number }
  /**
   * Decisions for instances are not written, or this is unknown: another process took the instances over, or the database did not answer in
   * time. Or the instances could not be released, and stay busy until the lease of their operation expires.
   */
  | { readonly type: 'fenced'; readonly cause: FenceCause; readonly instances: number }
  /** A page of the readers of changed instances was re-evaluated. */
  | { readonly type: 'cascade_page'; readonly evaluated: number; readonly failed: number }
  /** The readers through a relationship could not be found or re-evaluated any further, for instance because the deadline had passed. */
  | { readonly type: 'cascade_broken' };

const fenceCauses = ['taken_over', 'unknown', 'not_released'] as const;
type FenceCause = (typeof fenceCauses)[number];

/** Waits end with the deadline of the request, at most five minutes. */
const WAIT_BUCKETS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const ROUND_BUCKETS = [1, 2, 3, 5, 10, 20, 50, 100];

/** Counts and measures the operations of this process. Create it once per process. */
export const createOperationsObserver = (metrics: Metrics): ((event: OperationEvent) => void) => {
  const observeLines = createLineObserver(metrics);
  const observeHolds = createHoldObserver(metrics);
  const observeCascades = createCascadeObserver(metrics);
  return (event) => {
    observeLines(event);
    observeHolds(event);
    observeCascades(event);
  };
};

const createLineObserver = (metrics: Metrics): ((event: OperationEvent) => void) => {
  const waits = metrics.histogram({
    name: 'decision_context_line_wait_seconds',
    help: 'Time that an operation has waited behind its predecessors until an instance was free, or it gave up.',
    buckets: WAIT_BUCKETS,
  });
  const waiting = metrics.gauge({
    name: 'decision_context_line_waiting',
    help: 'Operations of this process that wait behind their predecessors for an instance.',
  });
  const givenWay = metrics.counter({
    name: 'decision_context_operations_given_way_total',
    help: 'Waits for instances that ended because the operations of two flows waited for each other.',
  });
  return (event) => {
    if (event.type === 'wait_began') waiting.inc();
    else if (event.type === 'wait_ended') {
      waiting.dec();
      waits.observe(event.waitedMs / 1_000);
    } else if (event.type === 'gave_way') givenWay.inc();
  };
};

const createHoldObserver = (metrics: Metrics): ((event: OperationEvent) => void) => {
  const held = metrics.gauge({
    name: 'decision_context_held_instances',
    help: 'Instances that are busy with operations of this process.',
  });
  const rounds = metrics.histogram({
    name: 'decision_context_rounds',
    help: 'Rounds in which the assets of an instance ran in one operation.',
    buckets: ROUND_BUCKETS,
  });
  const fenced = metrics.counter({
    name: 'decision_context_fenced_instances_total',
    help: 'Instances whose decision was not written or is of unknown outcome, or that could not be released, by cause.',
    labelNames: ['cause'],
  });
  // The first event of a cause is an increase too.
  for (const cause of fenceCauses) fenced.inc({ cause }, 0);
  return (event) => {
    if (event.type === 'hold_began') held.inc(event.instances);
    else if (event.type === 'hold_ended') held.dec(event.instances);
    else if (event.type === 'settled') rounds.observe(event.rounds);
    else if (event.type === 'fenced') fenced.inc({ cause: event.cause }, event.instances);
  };
};

const createCascadeObserver = (metrics: Metrics): ((event: OperationEvent) => void) => {
  const pages = metrics.counter({
    name: 'decision_context_cascade_pages_total',
    help: 'Pages of dependent instances: evaluated, failed (some of the page were not evaluated), or broken off.',
    labelNames: ['outcome'],
  });
  const dependents = metrics.counter({
    name: 'decision_context_cascade_dependents_total',
    help: 'Dependent instances that were evaluated again, by outcome.',
    labelNames: ['outcome'],
  });
  return (event) => {
    if (event.type === 'cascade_broken') pages.inc({ outcome: 'broken' });
    if (event.type !== 'cascade_page') return;
    pages.inc({ outcome: event.failed === 0 ? 'evaluated' : 'failed' });
    dependents.inc({ outcome: 'evaluated' }, event.evaluated);
    dependents.inc({ outcome: 'failed' }, event.failed);
  };
};
