import { type Cache } from '@decision/cache';
import { ServiceError } from '@decision/contracts';
import { type CallFor } from '@decision/flows';
import { type Config, type connectorSettings, type Logger, type Metrics, type Stopper } from '@decision/service-kit';

/** Makes outside calls for tests of flows that say `live`. */
export interface LiveCalls {
  /** Runs tests that may make outside calls. Rejects with `overloaded` if too many do. */
  run<T>(test: (callFor: CallFor) => Promise<T>): Promise<T>;
}

/** Maximum number of concurrent runs of suites with live tests in this process; each holds a connection to the database until it ends. */
const AT_ONCE = 2;

/** `open` is called once, for the first suite with a live test, and again only if it failed. */
export const createLiveCalls = (open: () => Promise<CallFor>): LiveCalls => {
  let opened: Promise<CallFor> | undefined;
  let running = 0;
  const reopenable = (error: unknown): never => {
    opened = undefined;
    throw error;
  };
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
        return await test(await (opened ??= open().catch(reopenable)));
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

/** Opens the nodes that make outside calls. Loads them only now: every process starts, but few ever run a live test. */
export const openLiveCalls = async (cache: Pick<Cache, 'shared' | 'seal'>, opening: Opening): Promise<CallFor> => {
  const { openConnectors } = await import('@decision/connectors');
  const connectors = openConnectors(cache, { ...opening, entities: undefined, outbox: undefined });
  return (run) => connectors.callFor(run);
};
