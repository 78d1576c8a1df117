import { type Metrics } from '@decision/service-kit';

/** A member of a consumer group as its status tells of it. */
interface Membership {
  readonly ready: boolean;
  readonly partitions: number;
}

/** Exports whether a member of a consumer group is ready, and how many partitions it owns, as gauges. */
export const exportMembership = (metrics: Metrics, source: string, status: () => Membership): void => {
  metrics.gauge({
    name: `decision_${source}_ready`,
    help: `Whether the ${source} of this process can work: 1 or 0.`,
    collect() {
      this.set(status().ready ? 1 : 0);
    },
  });
  metrics.gauge({
    name: `decision_${source}_owned_partitions`,
    help: `Partitions that the ${source} of this process owns and reads.`,
    collect() {
      this.set(status().partitions);
    },
  });
};
