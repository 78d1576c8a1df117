import { type Database } from '@decision/persistence';
import { type ContextDirectory } from './definitions/context-directory';
import { type OperateContext } from './operations/operate';

/** Dependencies of the use cases on instances. */
export interface InstancesContext {
  readonly database: Database;
  readonly directory: ContextDirectory;
  readonly operate: OperateContext;
  /** From the arrival of a request to its answer, ms. */
  readonly timeoutMs: number;
  /** Instances that one transaction merges at most. */
  readonly chunkSize: number;
  /** Largest line of a batch of lines, bytes. */
  readonly lineMaxBytes: number;
}
