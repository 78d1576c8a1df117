import { getScale, limits, type ScaleRequest, type ScaleStatus, scaleWorkers, ServiceError } from '@decision/contracts';
import { accessOf } from '@decision/infrastructure';
import { type WantedWorkers, type WorkerFloor, type WorkspaceAccess } from '@decision/persistence';
import { bindOperation, type BoundOperation, type Metrics } from '@decision/service-kit';
import { withDeadline } from '@decision/waiting';

/** How long an answer of the broker or the database about workers is reused, ms. */
export const ANSWER_KEPT_MS = 2_000;
/** How long a scrape of metrics waits for the database, ms: shorter than the scraper's deadline. */
const METRIC_DEADLINE_MS = 2_000;

/** Sources of the numbers of workers, and the store of requested ones. */
export interface ScaleSources {
  /** Workers that have joined. Throws `broker_unavailable`. */
  readonly countWorkers: () => Promise<number>;
  readonly findFloor: (access: WorkspaceAccess) => Promise<WorkerFloor | undefined>;
  readonly setFloor: (access: WorkspaceAccess, wanted: WantedWorkers) => Promise<WorkerFloor>;
}

interface ScaleLimits {
  readonly maxWorkers: number;
  readonly workerFloorMs: number;
}

/**
 * The number of workers, and the number a workspace requests. The service counts and records; it starts no worker: see
 * docs/adr/0028-desired-workers-are-a-floor-in-the-database.md.
 */
export interface Scale {
  read(access: WorkspaceAccess): Promise<ScaleStatus>;
  /** Throws `forbidden` for an access that is restricted to groups, and `invalid_request` for a number of workers above the limit. */
  raise(access: WorkspaceAccess, request: ScaleRequest): Promise<ScaleStatus>;
}

export const createScale = (sources: ScaleSources, { maxWorkers, workerFloorMs }: ScaleLimits): Scale => {
  // Each count opens a connection to the broker, so callers share one count at a time.
  const countWorkers = shareAnswer(sources.countWorkers, ANSWER_KEPT_MS);
  return {
    read: async (access) => statusOf(await countWorkers(), await sources.findFloor(access)),
    raise: async (access, { target_workers: given }) => {
      if (access.userGroups !== undefined) throw restricted();
      if (given !== undefined && given > maxWorkers) throw tooMany(given, maxWorkers);
      const active = await countWorkers();
      const targetWorkers = given ?? Math.min(active + 1, maxWorkers);
      const wanted = { targetWorkers, keepsLarger: given === undefined, durationMs: workerFloorMs };
      return statusOf(active, await sources.setFloor(access, wanted));
    },
  };
};

const statusOf = (active: number, floor: WorkerFloor | undefined): ScaleStatus => {
  if (floor === undefined) return { status: 'idle', target_workers: 0, expires_in_seconds: 0, active_workers: active };
  return {
    status: active < floor.targetWorkers ? 'scaling' : 'ready',
    target_workers: floor.targetWorkers,
    expires_in_seconds: floor.expiresInSeconds,
    active_workers: active,
  };
};

const restricted = (): ServiceError =>
  new ServiceError(
    'forbidden',
    'A key that is restricted to user groups cannot ask for workers, which the whole deployment shares.',
  );

const tooMany = (given: number, most: number): ServiceError => {
  const message = `is ${given}; at most ${most} workers can be asked for (${limits.maxWorkers.env}).`;
  return new ServiceError('invalid_request', `The field "target_workers" ${message}`, {
    problems: [{ path: '/target_workers', message }],
  });
};

/**
 * Runs at most one query at a time: concurrent callers share the answer, as do callers within `keptMs` after it. Failures are shared too, so that
 * an unreachable server is queried no more often than a reachable one. `clock` answers ms.
 */
export const shareAnswer = <T>(ask: () => Promise<T>, keptMs: number, clock = () => performance.now()) => {
  let latest: { readonly answer: Promise<T>; settledAt: number } | undefined;
  return (): Promise<T> => {
    if (latest !== undefined && clock() - latest.settledAt < keptMs) return latest.answer;
    const asked = { answer: ask(), settledAt: Infinity };
    const settle = (): void => {
      asked.settledAt = clock();
    };
    asked.answer.then(settle, settle);
    latest = asked;
    return asked.answer;
  };
};

/**
 * Exports how many workers all workspaces together want, for autoscalers. The number is absent, not 0, if it cannot be read: an unreachable
 * database must not stop workers.
 */
export const exportDesiredWorkers = (metrics: Metrics, read: () => Promise<number>): void => {
  const shared = shareAnswer(read, ANSWER_KEPT_MS);
  const late = (): ServiceError => new ServiceError('database_unavailable', 'The database did not answer in time.');
  metrics.gauge({
    name: 'decision_desired_workers',
    help: 'The largest number of workers that any workspace asks for at the moment; 0 if none does, absent if it is not known.',
    async collect() {
      const desired = await withDeadline(shared(), METRIC_DEADLINE_MS, late).catch(() => undefined);
      if (desired === undefined) this.remove();
      else this.set(desired);
    },
  });
};

/** The calls of /api/v1/scale. */
export const scaleRoutes = (scale: Scale): readonly BoundOperation[] => [
  bindOperation(getScale, ({ identity }) => scale.read(accessOf(identity))),
  bindOperation(scaleWorkers, ({ identity, body }) => scale.raise(accessOf(identity), body)),
];
