import { type RequesterStatus } from '@decision/broker';
import { type CacheStatus } from '@decision/cache';
import { type Readiness } from '@decision/service-kit';

/** Body of GET /health (specification: "Operations and health"). */
interface HealthBody {
  readonly status: 'ok';
  readonly redis: boolean;
  readonly cacheInvalidation: { readonly enabled: boolean; readonly ready: boolean; readonly channel: string };
  readonly broker: { readonly enabled: boolean; readonly ready: boolean; readonly partitions: number };
}

/** The process is alive; the body lists its connections. */
export const readHealth = (
  { connected, channel }: CacheStatus,
  requester: RequesterStatus | undefined,
): HealthBody => ({
  status: 'ok',
  redis: connected,
  cacheInvalidation: { enabled: channel.enabled, ready: channel.ready, channel: channel.name },
  broker: {
    enabled: requester !== undefined,
    ready: requester?.ready ?? false,
    partitions: requester?.partitions ?? 0,
  },
});

/** Ready once it owns reply partitions and has their positions. */
export const brokerReadiness = (requester: RequesterStatus | undefined): Readiness =>
  requester === undefined
    ? { ready: false, reason: 'The broker is disabled: MQ_BROKERS names none.' }
    : { ready: requester.ready, reason: requester.reason };
