/* The rule by which Kubernetes' horizontal autoscaler chooses a number of pods, second by second, based on measured signals. */

/** Signals of one worker at a load that is a multiple of its capacity. */
export interface Signals {
  /** Offered requests as a multiple of the worker's capacity. */
  readonly ratio: number;
  /** Messages of lag per worker. */
  readonly lag: number;
  /** `decision_admission_pressure` of the gateway. */
  readonly pressure: number;
  /** Processor time of the worker, as a fraction of one core. */
  readonly cores: number;
  /** Fraction of refused requests. */
  readonly refused: number;
}

export type Trigger = 'lag' | 'cpu' | 'pressure';

interface Targets {
  /** Messages of lag per worker. */
  readonly lag: number;
  /** Percentage of `requestedCores`. */
  readonly cpuPercent: number;
  readonly requestedCores: number;
  readonly minReplicas: number;
  readonly maxReplicas: number;
}

interface Simulation {
  readonly measured: readonly Signals[];
  readonly triggers: readonly Trigger[];
  readonly targets: Targets;
  /** Offered requests at a second, as a multiple of one worker's capacity. */
  readonly offered: (second: number) => number;
  readonly seconds: number;
  /** From the decision to a new worker's first answer, s. */
  readonly startSeconds: number;
}

interface SimulationResult {
  readonly workersAtEnd: number;
  /** Seconds in which requests were refused. */
  readonly refusedSeconds: number;
  /** The last second in which requests were refused; undefined if there was none. */
  readonly lastRefusal: number | undefined;
  readonly workersAt: readonly number[];
}

/** Interval of Kubernetes' decisions, s, and its tolerance. */
const SYNC_SECONDS = 15;
const TOLERANCE = 0.1;
/** The charts' value: it must be further below 1 than the tolerance, or a tenth of the requests would continue to be refused. */
const PRESSURE_TARGET = 0.9;
/** Each decision may double the number, or add this many, whichever is more. */
const MOST_ADDED = 4;

/** Interpolates linearly between two measured signals; beyond the last ones, uses those. */
export const signalsAt = (measured: readonly Signals[], ratio: number): Signals => {
  const above = measured.findIndex((one) => one.ratio >= ratio);
  const [upper, lower] = [measured.at(above < 0 ? -1 : above), measured[Math.max(above - 1, 0)]];
  if (upper === undefined || lower === undefined) throw new TypeError('Nothing was measured.');
  const part = above <= 0 || upper.ratio === lower.ratio ? 1 : (ratio - lower.ratio) / (upper.ratio - lower.ratio);
  const between = (key: keyof Signals): number => lower[key] + (upper[key] - lower[key]) * part;
  const refused = between('refused');
  // The metric is never between 0 and 1: it is 0, or the number of requests per admitted one.
  const pressure = refused > 0 ? Math.max(between('pressure'), 1 / (1 - refused)) : 0;
  return { ratio, lag: between('lag'), pressure, cores: between('cores'), refused };
};

/** Replicas requested by one trigger, given their current number. */
const wantedBy = (trigger: Trigger, replicas: number, signals: Signals, targets: Targets): number => {
  const usage = {
    lag: signals.lag / targets.lag,
    cpu: (signals.cores * 100) / targets.requestedCores / targets.cpuPercent,
    pressure: signals.pressure / PRESSURE_TARGET,
  }[trigger];
  return Math.abs(usage - 1) <= TOLERANCE ? replicas : Math.ceil(replicas * usage);
};

export const simulate = ({
  measured,
  triggers,
  targets,
  offered,
  seconds,
  startSeconds,
}: Simulation): SimulationResult => {
  const workersAt: number[] = [];
  let wanted = targets.minReplicas;
  let ready = targets.minReplicas;
  const starting: { readonly at: number; readonly count: number }[] = [];
  let [refusedSeconds, lastRefusal]: [number, number | undefined] = [0, undefined];
  for (let second = 0; second < seconds; second += 1) {
    while (starting[0] !== undefined && starting[0].at <= second) ready += starting.shift()?.count ?? 0;
    const signals = signalsAt(measured, offered(second) / ready);
    if (signals.refused > 0.01) {
      refusedSeconds += 1;
      lastRefusal = second;
    }
    if (second % SYNC_SECONDS === 0) {
      // Starting pods count with the signals of the ready ones.
      const asked = Math.max(...triggers.map((trigger) => wantedBy(trigger, ready, signals, targets)));
      const most = Math.min(targets.maxReplicas, Math.max(wanted * 2, wanted + MOST_ADDED));
      const next = Math.min(Math.max(asked, wanted), most);
      if (next > wanted) starting.push({ at: second + startSeconds, count: next - wanted });
      wanted = next;
    }
    workersAt.push(ready);
  }
  return { workersAtEnd: workersAt.at(-1) ?? 0, refusedSeconds, lastRefusal, workersAt };
};
