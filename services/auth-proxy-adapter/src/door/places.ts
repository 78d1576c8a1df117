import { ServiceError } from '@decision/contracts';

interface PlacesOptions {
  /** Pieces of work that run at once. */
  readonly running: number;
  /** Further ones that may wait; beyond them everybody is refused. */
  readonly waiting: number;
}

/** Bounds work that strangers can ask for. */
export interface Places {
  /** Runs the work once a place is free. Throws `overloaded` where too much waits already. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export const createPlaces = ({ running, waiting }: PlacesOptions): Places => {
  const line: (() => void)[] = [];
  let busy = 0;
  const enter = async (): Promise<void> => {
    if (busy < running) {
      busy += 1;
      return;
    }
    if (line.length >= waiting)
      throw new ServiceError('overloaded', 'Too many people are signing in at this moment; try again in a moment.');
    // Whoever leaves hands its place on.
    await new Promise<void>((resolve) => line.push(resolve));
  };
  const leave = (): void => {
    const next = line.shift();
    if (next === undefined) busy -= 1;
    else next();
  };
  return {
    run: async (work) => {
      await enter();
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
};
