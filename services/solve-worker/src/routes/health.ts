import { type ResponderStatus } from '@decision/broker';
import { type CacheStatus } from '@decision/cache';

interface HealthBody {
  readonly status: 'ok';
  readonly redis: boolean;
  /** Partitions of `solution` that this worker reads. */
  readonly broker: { readonly ready: boolean; readonly partitions: number };
  readonly compiled_rules: number;
}

/** The process is alive; the body lists its connections. */
export const readHealth = (
  { connected }: CacheStatus,
  { ready, partitions }: ResponderStatus,
  compiledRules: number,
): HealthBody => ({
  status: 'ok',
  redis: connected,
  broker: { ready, partitions },
  compiled_rules: compiledRules,
});
