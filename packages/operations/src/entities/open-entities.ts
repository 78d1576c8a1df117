import { type EntityStore } from '@decision/connectors';
import { type Database } from '@decision/persistence';
import { type Logger } from '@decision/service-kit';
import { type ContextDirectory } from '../definitions/context-directory';
import { createFailureLogger } from '../operations/operate';
import { type OperationEvent } from '../operations/operation-events';
import { createLocalSettler, createOwnSettler } from '../operations/settler';
import { createEntityStore } from './entity-store';

interface Opening {
  readonly database: Database;
  readonly directory: ContextDirectory;
  /** The parts that settle in this process: rules, flows, threads, decisions. */
  readonly settling: Omit<Parameters<typeof createLocalSettler>[0], 'atOnce'>;
  readonly config: {
    /** As in the settings of operations on instances. */
    readonly leaseMs: number;
    readonly maxWaiting: number;
    readonly batchChunk: number;
  };
  readonly logger: Logger;
  readonly onEvent: (event: OperationEvent) => void;
}

/** Opens the instances of contexts for nodes of flows that run in this process, and settles their writes here. */
export const openEntities = ({ database, directory, settling, config, logger, onEvent }: Opening): EntityStore => {
  const { leaseMs, maxWaiting: mostWaiting, batchChunk: chunkSize } = config;
  const line = { mostWaiting, ticketLeaseMs: leaseMs, onEvent };
  // With a limit, an operation could queue behind operations that wait for it; waiting runs of flows have their own bound.
  const settler = createOwnSettler(createLocalSettler({ ...settling, atOnce: Infinity }));
  const operate = { database, directory, settler, line, leaseMs, onFailure: createFailureLogger(logger), onEvent };
  return createEntityStore({ database, directory, operate, chunkSize });
};
