import { randomUUID } from 'node:crypto';
import { settle } from '@decision/contexts';
import { ServiceError, type SettledInstance } from '@decision/contracts';
import { ancestorsOf, inputHash } from '@decision/execution';
import { type Database, type HeldInstances, releaseInstances } from '@decision/persistence';
import { FailureLog, type Logger } from '@decision/service-kit';
import { type ContextDirectory } from '../definitions/context-directory';
import { type DueInstance, type HeldInstance, sourcesOf } from './admit';
import { type AdmittedWork, admitWork, WrittenMeanwhile } from './admit-work';
import { commitWrites } from './commit-writes';
import { finish, type Finished, outcomeOfHeld } from './finish';
import { DefinitionChanged } from './hold-definition';
import { Line, type LineSettings } from './line';
import { type OperationEvent } from './operation-events';
import { OperationLease } from './operation-lease';
import { type Operation, type Settler } from './settler';
import { toCollections } from './surroundings';
import { askingOperation, type InstanceOutcome, type Work, type WorkResult } from './work';

export interface OperateContext {
  readonly database: Database;
  readonly directory: ContextDirectory;
  readonly settler: Settler;
  readonly line: LineSettings;
  /** Time without a renewal after which other processes take over an operation, ms. */
  readonly leaseMs: number;
  /** Receives the reason why instances were not settled, for logs: an answer has only the message. */
  readonly onFailure: (failure: OperationFailure) => void;
  readonly onEvent?: (event: OperationEvent) => void;
}

/** Why instances of a context were not settled. */
interface OperationFailure {
  readonly contextId: string;
  readonly instances: number;
  readonly requestId: string;
  readonly error: unknown;
}

/** Merges the given facts in one transaction, whose size the caller chooses, and settles the due assets. */
export const operate = (context: OperateContext, work: Work): Promise<WorkResult> => new Operating(context, work).run();

/** Attempts at a transaction that conflicted with another one. */
const MOST_COLLISIONS = 3;
/** How often an operation is decided again because the definition changed while it was settled. */
const MOST_CHANGES = 3;

/** One piece of work in progress. Free instances are merged at once; each busy instance waits in its own queue while the others proceed (C148). */
class Operating {
  private readonly outcomes = new Map<string, InstanceOutcome>();
  private readonly failures = new Map<string, ServiceError>();
  private readonly committed = new Set<string>();
  private readonly line: Line;
  private readonly running: Promise<void>[] = [];

  constructor(
    private readonly context: OperateContext,
    private work: Work,
    /** How often the definition has changed during the settling. */
    private readonly changes = 0,
  ) {
    this.line = new Line(context.database, work.context, work.origin, context.line, randomUUID());
  }

  async run(): Promise<WorkResult> {
    let open = this.work.given;
    try {
      let turns = open;
      while (open.length > 0) {
        const busy = new Set(await this.admit(turns));
        const tried = new Set(turns.map(({ instanceId }) => instanceId));
        open = open.filter(({ instanceId }) => !tried.has(instanceId) || busy.has(instanceId));
        if (open.length === 0) break;
        const ready = new Set(await this.line.wait(open.map(({ instanceId }) => instanceId)));
        turns = open.filter(({ instanceId }) => ready.has(instanceId));
      }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      for (const { instanceId } of open) this.failures.set(instanceId, error);
    } finally {
      await Promise.all(this.running);
      await this.line.leave();
    }
    const { outcomes, failures, committed } = this;
    return { outcomes, failures, committed };
  }

  /** Merges into the free instances; answers the others. Admitted operations continue by themselves. */
  private async admit(given: Work['given']): Promise<readonly string[]> {
    const operationId = randomUUID();
    const admitted = await this.admitOnce(operationId, given);
    // It is in force, and is treated from now on like one that was read for this request.
    if (this.work.context.recalled !== undefined) this.work = { ...this.work, context: admitted.work.context };
    for (const outcome of admitted.done) {
      this.outcomes.set(outcome.instanceId, outcome);
      this.committed.add(outcome.instanceId);
    }
    for (const { planned } of admitted.held) this.committed.add(planned.locked.instanceId);
    if (admitted.held.length > 0) this.running.push(this.carryOut(operationId, admitted));
    if (admitted.repeated.length > 0) this.running.push(this.lookAgain(admitted.repeated));
    return admitted.busy;
  }

  private async admitOnce(operationId: string, given: Work['given']): Promise<AdmittedWork> {
    const { database, directory, settler, leaseMs } = this.context;
    const parentId = askingOperation(this.work.origin);
    const options = { admission: { operationId, leaseMs, parentId }, ticketId: this.line.ticketId };
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await commitWrites<AdmittedWork>(
          database,
          this.work.context.id,
          this.work.origin,
          (transaction, endWith) =>
            admitWork(transaction, { directory, settler, work: this.work, given, options }, endWith),
        );
      } catch (error) {
        if (attempt >= MOST_COLLISIONS || !(error instanceof WrittenMeanwhile || isCollision(error))) throw error;
      }
    }
  }

  /** Settles admitted instances and writes them back. Never rejects: a failure is recorded for each of its instances. */
  private async carryOut(operationId: string, admitted: AdmittedWork): Promise<void> {
    const { work, held } = admitted;
    this.emit({ type: 'hold_began', instances: held.length });
    const { database, leaseMs } = this.context;
    const before = held[0]?.planned.locked.lockedAt ?? '';
    const lease = new OperationLease({ database, access: work.origin.access, operationId, leaseMs }, before);
    lease.keep();
    let changed: DefinitionChanged | undefined;
    try {
      this.take(await this.settleAndWrite(operationId, admitted, lease));
    } catch (error) {
      await this.release(operationId, held);
      if (error instanceof DefinitionChanged && this.changes < MOST_CHANGES) changed = error;
      else this.fail(held, error);
    } finally {
      lease.stop();
      this.emit({ type: 'hold_ended', instances: held.length });
    }
    if (changed !== undefined) await this.decideAnew(work, held, changed);
  }

  private async settleAndWrite(operationId: string, admitted: AdmittedWork, lease: OperationLease): Promise<Finished> {
    const { work, held, collections, settling } = admitted;
    const { database, directory } = this.context;
    const settled = await this.settle({ operationId, work, instances: held, collections }, settling);
    const settledHeld = held.map((one, index) => {
      const instance = settled[index];
      if (instance === undefined) throw new ServiceError('internal_error', 'An operation answered too few instances.');
      return { held: one, settled: instance, outcome: outcomeOfHeld(work, one, instance) };
    });
    const onFenced = (cause: 'taken_over' | 'unknown', instances: number): void =>
      this.emit({ type: 'fenced', cause, instances });
    return finish({ database, directory, operationId, lease, onFenced }, work, settledHeld);
  }

  private fail(held: readonly HeldInstance[], error: unknown): void {
    if (!(error instanceof ServiceError)) this.reportFailure(held.length, error);
    const failure = error instanceof ServiceError ? error : unexpected(error);
    for (const { planned } of held) this.failures.set(planned.locked.instanceId, failure);
  }

  /** An earlier run of the step merged the facts: the assets due now are run, and the state is answered. Never rejects. */
  private async lookAgain(instanceIds: readonly string[]): Promise<void> {
    const given = instanceIds.map((instanceId) => ({ instanceId, facts: {} }));
    const again = new Operating(this.context, { ...this.work, given, mode: 'dependent', stepKey: undefined });
    try {
      const { outcomes, failures } = await again.run();
      this.take({ outcomes: [...outcomes.values()], failures });
    } catch (error) {
      for (const id of instanceIds) this.failures.set(id, error instanceof ServiceError ? error : unexpected(error));
    }
  }

  /** The facts are merged, but their decisions were made under a definition that is no longer in force. */
  private async decideAnew(work: Work, held: readonly HeldInstance[], { context }: DefinitionChanged): Promise<void> {
    const given = held.map(({ planned }) => ({ instanceId: planned.locked.instanceId, facts: {} }));
    const mode = work.mode === 'submit' ? 'dependent' : work.mode;
    const again = new Operating(this.context, { ...work, context, given, mode }, this.changes + 1);
    const { outcomes, failures } = await again.run();
    for (const { planned } of held) {
      const { instanceId, isNew, facts, derived } = planned.locked;
      const outcome = outcomes.get(instanceId);
      const failure = failures.get(instanceId) ?? new DefinitionChanged(context);
      if (outcome === undefined) this.failures.set(instanceId, failure);
      else this.outcomes.set(instanceId, { ...outcome, isNew, before: { ...facts, ...derived } });
    }
  }

  private take({ outcomes, failures }: Finished): void {
    for (const outcome of outcomes) this.outcomes.set(outcome.instanceId, outcome);
    for (const [id, failure] of failures) this.failures.set(id, failure);
  }

  /** An operation that cannot be executed, or that fails, becomes a result of its own: the merge is kept. */
  private async settle(
    operation: Operation,
    settling = this.context.settler(operation),
  ): Promise<readonly SettledInstance[]> {
    const { instances } = operation;
    try {
      const settled = await settling;
      for (const { rounds } of settled) if (rounds !== undefined) this.emit({ type: 'settled', rounds });
      return settled;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code === 'deadline_exceeded') throw error;
      this.reportFailure(instances.length, error);
      const status = UNAVAILABLE.has(error.code) ? ('unavailable' as const) : ('infrastructure_error' as const);
      return Promise.all(instances.map((due) => settleWithout(operation, due, status, error.message)));
    }
  }

  private reportFailure(instances: number, error: unknown): void {
    const { context, origin } = this.work;
    this.context.onFailure({ contextId: context.id, instances, requestId: origin.requestId, error });
  }

  private async release(operationId: string, held: readonly HeldInstance[]): Promise<void> {
    const { context, origin } = this.work;
    await this.context.database
      .inWorkspace(origin.access, (transaction) => releaseInstances(transaction, context.id, heldBy(operationId, held)))
      .catch(() => this.emit({ type: 'fenced', cause: 'not_released', instances: held.length })); // until the lease expires
  }

  private emit(event: OperationEvent): void {
    this.context.onEvent?.(event);
  }
}

/** Failures that mean that nothing can be executed at the moment (C71). */
const UNAVAILABLE: ReadonlySet<string> = new Set([
  'broker_unavailable',
  'decision_not_recorded',
  'too_few_reply_partitions',
  'overloaded',
  'shutting_down',
]);

const heldBy = (operationId: string, held: readonly HeldInstance[]): HeldInstances => ({
  operationId,
  takeovers: 0,
  fences: new Map(held.map(({ planned, fence }) => [planned.locked.instanceId, fence])),
});

const settleWithout = async (
  { work, collections }: Operation,
  { planned }: DueInstance,
  status: 'unavailable' | 'infrastructure_error',
  error: string,
): Promise<SettledInstance> => {
  const { locked, facts, executions, surroundings, only } = planned;
  const { model, assets } = work.context;
  const settled = await settle(
    {
      ...{ model, assets, facts, executions, only },
      forced: work.forced,
      ancestors: ancestorsOf(work.context.id, work.origin.within),
      sources: sourcesOf(work, locked.facts, facts, surroundings),
    },
    {
      execute: () => ({ status, error }),
      hash: inputHash,
      isOver: () => false, // a permanent failure is tried once
      isFull: () => false,
      pause: () => undefined,
      onFault: () => undefined,
      collections: toCollections(collections),
    },
  );
  return JSON.parse(JSON.stringify(settled)) as SettledInstance; // as a message would have carried it
};

/** A deadlock or a serialisation failure: a retry can succeed at once. */
const isCollision = (error: unknown): boolean =>
  error instanceof ServiceError &&
  error.cause instanceof Error &&
  'sqlState' in error.cause &&
  String(error.cause.sqlState).startsWith('40');

const unexpected = (cause: unknown): ServiceError =>
  new ServiceError('internal_error', 'The operation could not be finished.', {}, { cause });

/** Logs why instances were not settled, with cause, stack and request id; lines per second are limited, since an outage affects every operation. */
export const createFailureLogger = (logger: Logger): ((failure: OperationFailure) => void) => {
  const failures = new FailureLog();
  return ({ error, requestId, contextId, instances }) =>
    failures.report(() => logger.child({ request_id: requestId, context_id: contextId, instances }), error);
};

/** Dependencies of work on instances, for every caller. */
export interface WritingContext {
  readonly database: Database;
  readonly directory: ContextDirectory;
  readonly operate: OperateContext;
  /** Largest number of instances that one transaction merges. */
  readonly chunkSize: number;
}

/** Dependencies of the use cases on instances. */
export interface InstancesContext extends WritingContext {
  /** From the arrival of a request to its answer, ms. */
  readonly timeoutMs: number;
  /** Largest size of a chunk with several lines in a batch of lines, bytes. */
  readonly chunkBytes: number;
  /** Largest line of a batch of lines, bytes. */
  readonly lineMaxBytes: number;
}
