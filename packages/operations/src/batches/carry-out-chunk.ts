import {
  type Facts,
  type GivenInstance,
  identityValueOf,
  outcomeOf,
  resolveInstance,
  type Settled,
} from '@decision/contexts';
import { type ContextCascadeSummary, ServiceError } from '@decision/contracts';
import { type DirectlyMerged, mergeDirect } from '@decision/persistence';
import { Summaries } from '../cascades/cascade';
import { ChangedInstances, cascadeChanges } from '../cascades/cascade-changes';
import { type ContextInUse, type OpenContext } from '../definitions/context-directory';
import { commitWrites, UnknownCommit } from '../operations/commit-writes';
import { holdDefinition } from '../operations/hold-definition';
import { type InstancesContext, operate } from '../operations/operate';
import { type GivenFacts, type InstanceOutcome, NO_RELATIVES, type RequestOrigin } from '../operations/work';

/** Chunks in progress at once: while workers settle one, the next is merged. */
export const CHUNKS_AT_ONCE = 3;

/** The context of the records, and the origin of the request. */
export interface BatchWork {
  readonly context: InstancesContext;
  readonly definition: OpenContext;
  readonly origin: RequestOrigin;
}

/** Ids of instances that the error of a failed batch lists. */
export interface Commits {
  /** Instances whose merge is committed. */
  readonly committed: Set<string>;
  /** Instances for which the database did not answer whether it is. */
  readonly unknown: Set<string>;
}

export const newCommits = (): Commits => ({ committed: new Set(), unknown: new Set() });

/** Progress of a batch, or of a part of one. */
export class BatchProgress {
  /** By instance id. */
  readonly outcomes = new Map<string, InstanceOutcome>();
  /** The first failure. */
  failure: ServiceError | undefined;

  constructor(readonly commits: Commits = newCommits()) {}

  take(outcome: InstanceOutcome): void {
    this.outcomes.set(outcome.instanceId, outcome);
    this.commits.committed.add(outcome.instanceId);
  }

  fail(error: unknown): void {
    if (error instanceof UnknownCommit) for (const id of error.instanceIds) this.commits.unknown.add(id);
    this.failure ??=
      error instanceof ServiceError
        ? error
        : new ServiceError('internal_error', 'A chunk of the batch failed.', {}, { cause: error });
  }
}

/** Merges a chunk of instances and runs the due assets. Never rejects: outcomes are recorded in the progress. */
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
  for (const id of committed) progress.commits.committed.add(id);
  for (const failure of failures.values()) progress.fail(failure);
};

/** Whether instances of a context can only be merged: nothing is computed, recorded, linked or run (C140). */
const isMergeOnly = ({ id, model, assets, foreignKeys, world }: ContextInUse): boolean =>
  assets.length === 0 &&
  model.derived.size === 0 &&
  foreignKeys.length === 0 &&
  model.trackedFacts.length === 0 &&
  !world.relationships.some(({ fromContextId, toContextId }) => fromContextId === id || toContextId === id);

const NOTHING_RUN: Omit<Settled, 'facts'> = {
  ...{ executions: {}, runs: [], ended: 'fixpoint', unfinished: [], degraded: undefined, anyReady: false },
};

/**
 * Merges in one statement; busy and expired instances are left to the queue, and so are all if the definition has changed. Throws
 * `context_not_found`.
 */
const mergeOnly = async (
  { database, directory }: InstancesContext,
  context: ContextInUse,
  origin: RequestOrigin,
  given: readonly GivenFacts[],
): Promise<readonly InstanceOutcome[]> => {
  const { identity, definition } = context.model;
  const merges = given.map(({ instanceId, facts }) => ({
    instanceId,
    facts: { ...facts, [identity.key]: identityValueOf(identity, instanceId) ?? instanceId } satisfies Facts,
  }));
  const { written } = await commitWrites(database, context.id, origin, async (transaction) => {
    const isInForce = (await holdDefinition(transaction, directory, { context, origin })) === context;
    return {
      written: isInForce ? await mergeDirect(transaction, context.id, merges, definition.ttlSeconds) : [],
    };
  });
  return written.map((instance) => toOutcome(context, origin, instance));
};

const toOutcome = (
  context: ContextInUse,
  { now }: RequestOrigin,
  { instanceId, isNew, facts, expiresAt }: DirectlyMerged,
): InstanceOutcome => {
  const { model } = context;
  const settled = { ...NOTHING_RUN, facts };
  return {
    ...{
      instanceId,
      context,
      isNew,
      before: {},
      settled,
      relatives: NO_RELATIVES,
      expiresAt,
      version: 0,
      readerPass: undefined,
    },
    resolved: resolveInstance(model, facts, { now, related: {} }),
    outcome: outcomeOf(settled, {
      hasAssets: false,
      autoExecute: model.definition.autoExecuteDecisions,
      hasRegistered: false,
    }),
    registered: false,
  };
};

/** Largest size of the changed instances that are kept until their cascade, bytes: enough for some 100,000. */
const MOST_BYTES = 32 * 1024 * 1024;

/**
 * The cascade of a batch. Readers are re-evaluated after the whole batch is merged, each once (C112); if a batch changes more instances
 * than can be kept, once per part that can.
 */
export class BatchCascade {
  private changed = new ChangedInstances();
  private readonly summaries = new Summaries();
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly work: BatchWork,
    private readonly mostBytes = MOST_BYTES,
  ) {}

  /** Adds changed instances. Resolves at once if there is room, otherwise when the cascade of the kept instances has ended. */
  async add(outcomes: Iterable<InstanceOutcome>): Promise<void> {
    for (const outcome of outcomes) this.changed.add(outcome);
    if (this.changed.bytes > this.mostBytes) await this.run();
  }

  /** Re-evaluates the readers of all instances that were added. */
  run(): Promise<void> {
    const { changed } = this;
    const { context, origin } = this.work;
    this.changed = new ChangedInstances();
    const before = this.running.catch(() => undefined); // the caller of that cascade receives the error
    this.running = before.then(() => cascadeChanges(context, origin, changed, this.summaries));
    return this.running;
  }

  /** Re-evaluates the readers of the instances that a failed batch changed, as far as possible. The client's retry completes the rest. */
  async runPart(outcomes: Iterable<InstanceOutcome> = []): Promise<void> {
    try {
      await this.add(outcomes);
      await this.run();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
    }
  }

  /** Outcome of the readers so far, limited to those that the caller sees. */
  cascaded(): readonly ContextCascadeSummary[] {
    return this.work.definition.view.summaries(this.summaries.list());
  }
}
