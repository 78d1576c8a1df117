import { isIPv6 } from 'node:net';
import { ServiceError } from '@decision/contracts';

/** Outcome of a refused key, for a counter. */
export type RefusalOutcome = 'answered' | 'slowed' | 'turned_away';

/**
 * Bounds the checks of API keys that this process has not accepted before, and slows callers that try many: an address whose keys were refused too
 * often has a few places, which its refusals keep while they wait, and beyond them nothing is looked up for it. Nobody learns from the time that an
 * answer took why a key was refused.
 */
export interface RefusalGuard {
  /** Admits the check of a key that came from this address. Throws `too_many_refusals`; nothing has been looked up by then. */
  admit(address: string | undefined): KeyCheck;
  /** Addresses that are remembered at the moment. */
  size(): number;
}

/** The check of one key; exactly one of its functions is to be called. */
interface KeyCheck {
  /** The key was accepted, or could not be checked. */
  end(): void;
  /** The key was refused: resolves when that may be answered. `startedAt` is when the check began, as `now` tells. */
  refuse(startedAt: number): Promise<void>;
}

interface RefusalGuardOptions {
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
/** Checks of one address beyond its burst, and of all such addresses, that may be under way at once, waiting refusals included. */
const MAX_CHECKS_PER_SUSPECT = 20;
const MAX_CHECKS_OF_SUSPECTS = 1_000;
/** Checks of all addresses that may be under way at once, without the refusals that wait. */
const MAX_CHECKS = 1_000;
/** Addresses that are remembered; the one that was refused longest ago is forgotten first. */
const MAX_ADDRESSES = 10_000;

interface Suspect {
  /** Refusals in the window that began at `since`. */
  refusals: number;
  since: number;
  /** Checks that were admitted although it is beyond its burst. */
  checks: number;
}

export const createRefusalGuard = ({ now, sleep, onRefusal }: RefusalGuardOptions): RefusalGuard => {
  const suspects = new Map<string, Suspect>();
  let checks = 0;
  let checksOfSuspects = 0;

  const isOver = ({ since }: Suspect): boolean => now() - since >= WINDOW_MS;

  /** Notes a refusal; answers how many of the address are beyond its burst. */
  const noteRefusal = (name: string): number => {
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

  /** Takes a place of those that suspects have; answers how to give it back, and undefined for an address that is none. */
  const takePlace = (name: string): (() => void) | undefined => {
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
      const leave = takePlace(name);
      checks += 1;
      return {
        end: () => {
          checks -= 1;
          leave?.();
        },
        refuse: async (startedAt) => {
          // It is known by now: what waits beyond this point keeps only a place of the suspects.
          checks -= 1;
          const excess = noteRefusal(name);
          // An address sends its burst at once and all of it is checked at once: only the refusals of suspects that keep a place wait.
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
