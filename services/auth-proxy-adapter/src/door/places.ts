import { ServiceError } from '@decision/contracts';

interface PlacesOptions {
  /** Pieces of work that run at once. */
  readonly running: number;
  /** Further ones that may wait; beyond them everybody is refused. */
  readonly waiting: number;
  /** How long a place rests while others wait, in times of what the work before took, 20 ms at most: time for those who need no place. Default 0. */
  readonly rest?: number;
}

const MAX_REST_MS = 20;

/** Bounds work that strangers can ask for. */
export interface Places {
  /** Runs the work once a place is free. Throws `overloaded` where too much waits already. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Throws `overloaded` where `run` would: for whoever wants to refuse before it does anything else. */
  requireRoom(): void;
}

export const createPlaces = ({ running, waiting, rest = 0 }: PlacesOptions): Places => {
  const line: (() => void)[] = [];
  let busy = 0;
  const requireRoom = (): void => {
    if (busy >= running && line.length >= waiting)
      throw new ServiceError('overloaded', 'Too many people are signing in at this moment; try again in a moment.');
  };
  const enter = async (): Promise<void> => {
    requireRoom();
    if (busy < running) {
      busy += 1;
      return;
    }
    // Whoever leaves hands its place on.
    await new Promise<void>((resolve) => line.push(resolve));
  };
  const handOn = (): void => {
    const next = line.shift();
    if (next === undefined) busy -= 1;
    else next();
  };
  const leave = (tookMs: number): void => {
    if (rest === 0 || line.length === 0) handOn();
    else setTimeout(handOn, Math.min(MAX_REST_MS, rest * tookMs));
  };
  return {
    requireRoom,
    run: async (work) => {
      await enter();
      const beganAt = performance.now();
      try {
        return await work();
      } finally {
        leave(performance.now() - beganAt);
      }
    },
  };
};
