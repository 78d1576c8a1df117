import { type Metrics } from './metrics';

/** Something that happened, named by one of a fixed set of types. */
interface CountedEvent {
  readonly type: string;
}

/** Counts what a package tells of itself, by type: `decision_<source>_events_total{type}`. */
export const createEventCounter = (metrics: Metrics, source: string): ((event: CountedEvent) => void) => {
  const counter = metrics.counter({
    name: `decision_${source}_events_total`,
    help: `What the ${source} of this process told of itself, by type.`,
    labelNames: ['type'],
  });
  return ({ type }) => counter.inc({ type });
};
