import { type SubscriberStatus } from '@decision/broker';
import { type Readiness } from '@decision/service-kit';
import { type ArchiveStatus } from '../archiving/start-archive';
import { type SinkStatus } from '../sinks/start-sinks';

/** Input of the health body. */
export interface HealthSource {
  readonly pingDatabase: () => Promise<void>;
  /** Why the database cannot be used since the start, as a sentence; undefined once it could be used. */
  readonly waitingFor: () => string | undefined;
  /** Undefined if no broker is configured. */
  readonly subscriberStatus: () => SubscriberStatus | undefined;
  /** Undefined or absent without an archive. */
  readonly archiveStatus?: () => ArchiveStatus | undefined;
  /** Default: no sinks. */
  readonly sinkStatus?: () => readonly SinkStatus[];
}

interface HealthBody {
  readonly status: 'ok' | 'degraded';
  readonly database: boolean;
  /** Partitions of `logs` that this process reads, and messages that it has not stored yet. */
  readonly broker: {
    readonly enabled: boolean;
    readonly ready: boolean;
    readonly partitions: number;
    readonly queued: number;
  };
  /** The archive, if any; its failures affect nothing else. */
  readonly archive?: ArchiveStatus;
  /** Sinks; a failing one affects nothing else, so it does not make the service degraded. */
  readonly sinks: readonly SinkStatus[];
}

/** The process is alive; the body says what it can reach. */
export const readHealth = async ({
  pingDatabase,
  subscriberStatus,
  archiveStatus,
  sinkStatus,
}: HealthSource): Promise<HealthBody> => {
  const archive = archiveStatus?.();
  const database = await answers(pingDatabase());
  const subscriber = subscriberStatus();
  const ready = subscriber !== undefined && subscriber.reason === undefined;
  return {
    status: database && (subscriber === undefined || ready) ? 'ok' : 'degraded',
    database,
    broker: {
      enabled: subscriber !== undefined,
      ready,
      partitions: subscriber?.partitions ?? 0,
      queued: subscriber?.queued ?? 0,
    },
    ...(archive === undefined ? {} : { archive }),
    sinks: sinkStatus?.() ?? [],
  };
};

/** Ready once the database can be used, and while it answers. Questions are answered from it even while the broker is away. */
export const readReadiness = async ({ pingDatabase, waitingFor }: HealthSource): Promise<Readiness> => {
  const reason = waitingFor();
  if (reason !== undefined) return { ready: false, reason };
  return (await answers(pingDatabase()))
    ? { ready: true }
    : { ready: false, reason: 'The database cannot be reached.' };
};

const answers = (asked: Promise<unknown>): Promise<boolean> =>
  asked.then(
    () => true,
    () => false,
  );
