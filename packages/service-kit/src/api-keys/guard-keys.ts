import { isIPv6 } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '@decision/contracts';
import { type Logger } from '../logging/logger';
import { type Metrics } from '../metrics/metrics';
import { type AuthenticatorOptions, type Identity, type RefusalGuard } from './authenticator';

interface GuardKeysOptions {
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Stores that a key was used now. */
  readonly recordUse: (identity: Identity) => Promise<void>;
}

/** The options that every service with API keys gives its authenticator: refusals are delayed and counted, uses recorded. */
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

/** Outcome of a refused key, for a counter. */
export type RefusalOutcome = 'answered' | 'slowed' | 'turned_away';

interface RefusalGuardOptions {
  /** Monotonic ms. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly onRefusal?: (outcome: RefusalOutcome) => void;
}

/** Minimum time from the start of a check to its refusal, ms: longer than checks usually take. */
export const REFUSAL_FLOOR_MS = 25;
/** Refusals per address and window without an additional delay. */
export const REFUSAL_BURST = 20;
const WINDOW_MS = 60_000;
/** Additional delay of each refusal beyond the burst, ms, and its maximum. */
const STEP_MS = 100;
const LONGEST_DELAY_MS = 5_000;
/** Maximum concurrent checks of one address beyond its burst, and of all such addresses, including delayed refusals. */
const MAX_CHECKS_PER_SUSPECT = 20;
const MAX_CHECKS_OF_SUSPECTS = 1_000;
/** Maximum concurrent checks of all addresses, excluding delayed refusals. */
const MAX_CHECKS = 1_000;
/** Addresses that are remembered; the one that was refused longest ago is forgotten first. */
const MAX_ADDRESSES = 10_000;

interface Suspect {
  /** Refusals in the window that began at `since`. */
  refusals: number;
  since: number;
  /** Checks that were admitted beyond its burst. */
  checks: number;
}

export const createRefusalGuard = ({ now, sleep, onRefusal }: RefusalGuardOptions): RefusalGuard => {
  const suspects = new Map<string, Suspect>();
  let checks = 0;
  let checksOfSuspects = 0;

  const isOver = ({ since }: Suspect): boolean => now() - since >= WINDOW_MS;

  /** Records a refusal and returns how many of the address are beyond its burst. */
  const recordRefusal = (name: string): number => {
    const suspect = suspects.get(name) ?? { refusals: 0, since: now(), checks: 0 };
    if (isOver(suspect)) Object.assign(suspect, { refusals: 0, since: now() });
    suspect.refusals += 1;
    suspects.delete(name);
    suspects.set(name, suspect);
    const oldest = suspects.keys().next().value;
    if (suspects.size > MAX_ADDRESSES && oldest !== undefined) suspects.delete(oldest);
    return Math.max(0, suspect.refusals - REFUSAL_BURST);
  };

  const turnAway = (): never => {
    onRefusal?.('turned_away');
    throw tooMany();
  };

  /** Takes one of the slots for suspects and returns the function that releases it; undefined for other addresses. */
  const takeSlot = (name: string): (() => void) | undefined => {
    const suspect = suspects.get(name);
    if (suspect === undefined || suspect.refusals < REFUSAL_BURST || isOver(suspect)) return undefined;
    if (suspect.checks >= MAX_CHECKS_PER_SUSPECT || checksOfSuspects >= MAX_CHECKS_OF_SUSPECTS) return turnAway();
    suspect.checks += 1;
    checksOfSuspects += 1;
    return () => {
      suspect.checks -= 1;
      checksOfSuspects -= 1;
    };
  };

  return {
    admit: (address) => {
      if (checks >= MAX_CHECKS) return turnAway();
      const name = nameOf(address);
      const leave = takeSlot(name);
      checks += 1;
      return {
        end: () => {
          checks -= 1;
          leave?.();
        },
        refuse: async (startedAt) => {
          // The outcome is known: a delayed refusal keeps only a slot for suspects.
          checks -= 1;
          const excess = recordRefusal(name);
          // The checks of a burst run concurrently. Only refusals of suspects, which keep a slot, are delayed.
          const penalty = leave === undefined ? 0 : Math.min(excess * STEP_MS, LONGEST_DELAY_MS);
          try {
            await sleep(Math.max(0, startedAt + REFUSAL_FLOOR_MS - now()) + penalty);
          } finally {
            leave?.();
          }
          onRefusal?.(penalty > 0 ? 'slowed' : 'answered');
        },
      };
    },
    size: () => suspects.size,
  };
};

/** An IPv6 client usually has the whole network of the first 64 bits of its address, so that network counts as one address. */
const nameOf = (address: string | undefined): string => {
  if (address === undefined) return 'unknown';
  return isIPv6(address) ? expand(address).slice(0, 4).join(':') : address;
};

const expand = (address: string): readonly string[] => {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const [left, right] = [head, tail ?? ''].map((part) => part.split(':').filter((group) => group !== '')) as [
    string[],
    string[],
  ]; // two parts of two
  return tail === undefined ? left : [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]; // prettier-ignore
};

const tooMany = (): ServiceError =>
  new ServiceError(
    'too_many_refusals',
    'Too many API keys or passwords from this address were refused just now; check yours, and try again later.',
    { retry_after_seconds: LONGEST_DELAY_MS / 1_000 },
  );

interface KeyUseOptions {
  /** Stores that a key was used now. A failure only loses this record. */
  readonly record: (identity: Identity) => Promise<void>;
  /** Epoch ms. */
  readonly now: () => number;
  readonly onFailure?: (error: unknown) => void;
}

/** The shortest time between two records of one key, ms; the store has the same bound. */
const INTERVAL_MS = 60_000;
/** Keys that are remembered; the one recorded longest ago is forgotten first, and may then be recorded too early. */
const MAX_KEYS = 10_000;
/** Maximum concurrent writes; a skipped key is recorded at its next use. */
const MAX_PENDING = 10;

/** Records the use of keys, each at most once per minute, without delaying requests. */
export const createKeyUse = ({ record, now, onFailure }: KeyUseOptions): ((identity: Identity) => void) => {
  const recorded = new Map<string, number>();
  let pending = 0;
  return (identity) => {
    const last = recorded.get(identity.actor);
    if (pending >= MAX_PENDING || (last !== undefined && now() - last < INTERVAL_MS)) return;
    recorded.delete(identity.actor);
    recorded.set(identity.actor, now());
    const oldest = recorded.keys().next().value;
    if (recorded.size > MAX_KEYS && oldest !== undefined) recorded.delete(oldest);
    pending += 1;
    record(identity)
      .catch((error: unknown) => onFailure?.(error))
      .finally(() => {
        pending -= 1;
      });
  };
};
