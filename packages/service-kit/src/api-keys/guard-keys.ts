import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger } from '../logging/logger';
import { type Metrics } from '../metrics/metrics';
import { type AuthenticatorOptions, type Identity } from './authenticator';
import { createKeyUse } from './key-use';
import { createRefusalGuard } from './refusal-guard';

interface GuardKeysOptions {
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Writes down that a key was used now. */
  readonly recordUse: (identity: Identity) => Promise<void>;
}

/** Additions of every service with API keys to its authenticator: refusals are slowed and counted, uses are noted. */
export const guardKeys = ({
  metrics,
  logger,
  recordUse,
}: GuardKeysOptions): Pick<AuthenticatorOptions, 'refusals' | 'onUse'> => {
  const refusals = metrics.counter({
    name: 'decision_api_key_refusals_total',
    help: 'API keys that were refused: answered at once, answered late, or turned away with 429.',
    labelNames: ['outcome'],
  });
  return {
    refusals: createRefusalGuard({
      now: () => performance.now(),
      sleep: (ms) => sleep(ms),
      onRefusal: (outcome) => refusals.inc({ outcome }),
    }),
    onUse: createKeyUse({
      record: recordUse,
      now: Date.now,
      onFailure: (error) => logger.debug({ err: error }, 'The use of a key was not noted.'),
    }),
  };
};
