import { type GivenInstance } from '@decision/contexts';
import { ServiceError } from '@decision/contracts';
import { type OpenContext } from '../definitions/context-directory';
import { UnknownCommit } from '../operations/commit-writes';
import { operate } from '../operations/operate';
import { type InstanceOutcome, type RequestOrigin } from '../operations/work';
import { type InstancesContext } from '../service-context';
import { isMergeOnly, mergeOnly } from './merge-only';

/** Chunks that are on their way at once: while one is settled by workers, the next is merged. */
export const CHUNKS_AT_ONCE = 3;

/** Records of which context, on whose behalf. */
export interface BatchWork {
  readonly context: InstancesContext;
  readonly definition: OpenContext;
  readonly origin: RequestOrigin;
}

/** Ids of instances that a batch, or several parts of it, have to tell of where it fails. */
export interface Fates {
  /** Their merge is committed. */
  readonly committed: Set<string>;
  /** The database did not tell whether it is. */
  readonly unknown: Set<string>;
}

export const newFates = (): Fates => ({ committed: new Set(), unknown: new Set() });

/** How far a batch, or a part of one, has come. */
export class BatchProgress {
  /** By instance id. */
  readonly outcomes = new Map<string, InstanceOutcome>();
  /** The first failure. */
  failure: ServiceError | undefined;

  constructor(readonly fates: Fates = newFates()) {}

  take(outcome: InstanceOutcome): void {
    this.outcomes.set(outcome.instanceId, outcome);
    this.fates.committed.add(outcome.instanceId);
  }

  fail(error: unknown): void {
    if (error instanceof UnknownCommit) for (const id of error.instanceIds) this.fates.unknown.add(id);
    this.failure ??=
      error instanceof ServiceError
        ? error
        : new ServiceError('internal_error', 'A chunk of the batch failed.', {}, { cause: error });
  }
}

/** Merges a chunk of instances and runs what is due. Never rejects: what became of it stands in the progress. */
export const carryOutChunk = async (
  work: BatchWork,
  chunk: readonly GivenInstance[],
  progress: BatchProgress,
): Promise<void> => {
  try {
    await mergeAndRun(work, chunk, progress);
  } catch (error) {
    progress.fail(error);
  }
};

const mergeAndRun = async (
  { context, definition, origin }: BatchWork,
  chunk: readonly GivenInstance[],
  progress: BatchProgress,
): Promise<void> => {
  if (Date.now() >= origin.deadline) {
    throw new ServiceError('deadline_exceeded', 'The deadline of the request passed before every record was merged.');
  }
  const merged = isMergeOnly(definition) ? await mergeOnly(context, definition, origin, chunk) : [];
  for (const outcome of merged) progress.take(outcome);
  const open = chunk.filter(({ instanceId }) => !progress.outcomes.has(instanceId));
  if (open.length === 0) return;
  const given = open.map(({ instanceId, facts }) => ({ instanceId, facts }));
  const { outcomes, failures, committed } = await operate(context.operate, {
    ...{ context: definition, origin, given, mode: 'submit' },
  });
  for (const outcome of outcomes.values()) progress.take(definition.view.outcome(outcome));
  for (const id of committed) progress.fates.committed.add(id);
  for (const failure of failures.values()) progress.fail(failure);
};
