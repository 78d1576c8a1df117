import { isIPv6 } from 'node:net';
import { ServiceError } from '@decision/contracts';

/** What became of a refused key, for a counter. */
export type RefusalOutcome = 'answered' | 'slowed' | 'turned_away';

/**
 * Stands between a refused API key and its answer, so that nobody learns from the time it took why it was refused, and whoever tries
 * many keys is slowed. A key that is valid never meets it.
 */
export interface RefusalGuard {
  /**
   * Resolves when a refusal may be answered. `address` is where the key came from; `startedAt` when its check began, as `now` tells.
   * Throws `too_many_refusals` where too many wait already.
   */
  hold(address: string | undefined, startedAt: number): Promise<void>;
  /** Addresses that are remembered at the moment. */
  size(): number;
}

export interface RefusalGuardOptions {
  /** Monotonic ms. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly onRefusal?: (outcome: RefusalOutcome) => void;
}

/** No refusal is answered sooner after its check began, ms: longer than any of the checks usually takes. */
export const REFUSAL_FLOOR_MS = 25;
/** Refusals of one address within the window that are answered without further delay. */
export const REFUSAL_BURST = 20;
const WINDOW_MS = 60_000;
/** Each refusal beyond the burst waits so much longer than the one before, ms, up to the most. */
const STEP_MS = 100;
const LONGEST_DELAY_MS = 5_000;
/** Refusals of one address, and of all, that may wait at once. */
const MAX_WAITING_PER_ADDRESS = 20;
const MAX_WAITING = 1_000;
/** Addresses that are remembered; the one that was refused longest ago is forgotten first. */
const MAX_ADDRESSES = 10_000;

interface Suspect {
  /** Refusals in the window that began at `since`. */
  refusals: number;
  since: number;
  waiting: number;
}

export const createRefusalGuard = ({ now, sleep, onRefusal }: RefusalGuardOptions): RefusalGuard => {
  const suspects = new Map<string, Suspect>();
  let waiting = 0;

  const suspectOf = (name: string): Suspect => {
    const known = suspects.get(name);
    const suspect = known ?? { refusals: 0, since: now(), waiting: 0 };
    if (now() - suspect.since >= WINDOW_MS) Object.assign(suspect, { refusals: 0, since: now() });
    suspects.delete(name);
    suspects.set(name, suspect);
    const oldest = suspects.keys().next().value;
    if (suspects.size > MAX_ADDRESSES && oldest !== undefined) suspects.delete(oldest);
    return suspect;
  };

  return {
    hold: async (address, startedAt) => {
      const suspect = suspectOf(nameOf(address));
      suspect.refusals += 1;
      const excess = Math.max(0, suspect.refusals - REFUSAL_BURST);
      if (excess > 0 && (suspect.waiting >= MAX_WAITING_PER_ADDRESS || waiting >= MAX_WAITING)) {
        onRefusal?.('turned_away');
        throw tooMany();
      }
      const penalty = Math.min(excess * STEP_MS, LONGEST_DELAY_MS);
      suspect.waiting += 1;
      waiting += 1;
      try {
        await sleep(Math.max(0, startedAt + REFUSAL_FLOOR_MS - now()) + penalty);
      } finally {
        suspect.waiting -= 1;
        waiting -= 1;
      }
      onRefusal?.(excess > 0 ? 'slowed' : 'answered');
    },
    size: () => suspects.size,
  };
};

/** Whoever has an address of the newer kind has the whole network of its first 64 bits. */
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
    'Too many API keys from this address were refused just now; check the key, and try again later.',
    { retry_after_seconds: LONGEST_DELAY_MS / 1_000 },
  );
