import { createRequire } from 'node:module';
import { type Cache } from '@decision/cache';
import type * as ConnectorsPackage from '@decision/connectors';
import { ServiceError } from '@decision/contracts';
import { type CallFor } from '@decision/flows';
import { type Config, type connectorSettings, type Logger, type Metrics, type Stopper } from '@decision/service-kit';

/** Asks the outside for tests of flows that say `live`. */
export interface LiveCalls {
  /** Runs tests that may ask the outside. Rejects with `overloaded` where too many do. */
  run<T>(test: (callFor: CallFor) => Promise<T>): Promise<T>;
}

/** Runs of suites with live tests at once in this process; each holds a connection to the database until it ends. */
const AT_ONCE = 2;

/** `open` is called once, for the first suite with a live test. */
export const createLiveCalls = (open: () => CallFor): LiveCalls => {
  let callFor: CallFor | undefined;
  let running = 0;
  return {
    run: async (test) => {
      if (running >= AT_ONCE) {
        throw new ServiceError(
          'overloaded',
          `${AT_ONCE} runs of tests that ask other systems are under way already, which is the limit of this process; try again later.`,
          { limit: AT_ONCE, retry_after_seconds: 5 },
        );
      }
      running += 1;
      try {
        return await test((callFor ??= open()));
      } finally {
        running -= 1;
      }
    },
  };
};

interface Opening {
  readonly config: Config<typeof connectorSettings>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly stopper: Stopper;
}

/** Opens the nodes that reach out. Loads them only now: few processes ever run a live test, and all of them start. */
export const openLiveCalls = (cache: Pick<Cache, 'shared' | 'seal'>, opening: Opening): CallFor => {
  const { openConnectors } = createRequire(__filename)('@decision/connectors') as typeof ConnectorsPackage;
  const connectors = openConnectors(cache, { ...opening, entities: undefined, outbox: undefined });
  return (run) => connectors.callFor(run);
};
