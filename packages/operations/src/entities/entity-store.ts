import {
  type EntityContext,
  type EntityState,
  type EntityStep,
  type EntityStore,
  type WrittenRecord,
} from '@decision/connectors';
import { groupRecords, readIdentity } from '@decision/contexts';
import { ServiceError } from '@decision/contracts';
import { type RunningOperation } from '@decision/flows';
import { markPendingCascades } from '@decision/persistence';
import { Summaries } from '../cascades/cascade';
import { cascadeChanges, ChangedInstances } from '../cascades/cascade-changes';
import { type OpenContext } from '../definitions/context-directory';
import { deleteInstance } from '../instances/delete-instance';
import { type NamedInstance, nameOfInstance, shown } from '../instances/instance-answers';
import { getInstance } from '../instances/read-instances';
import { operate, type WritingContext } from '../operations/operate';
import { lookUpMembers } from '../operations/surroundings';
import { type GivenFacts, type RequestOrigin } from '../operations/work';

/** Largest depth of nested operations, each started by a flow of the outer one. */
const MOST_NESTED = 8;

/**
 * Instances of contexts for nodes of flows: with the same queue, fence, limits and history as for requests, and with the rights of an
 * execution. The settler of the context must settle in this process.
 */
export const createEntityStore = (context: WritingContext): EntityStore => ({
  open: async (step) => {
    const access = { workspaceId: step.workspaceId, userGroups: undefined };
    const definition = await context.directory.open(access, step.contextSlug);
    return new OpenEntities(context, definition, step);
  },
});

class OpenEntities implements EntityContext {
  private readonly origin: RequestOrigin;

  constructor(
    private readonly context: WritingContext,
    private readonly definition: OpenContext,
    private readonly step: EntityStep,
  ) {
    const { requestId, keyId, deadline, within, signal } = step;
    this.origin = {
      ...{ access: definition.view.access, keyId, traceparent: undefined, now: Date.now() },
      ...{ requestId, deadline, within, signal },
    };
  }

  get identityFact(): string {
    return this.definition.model.identity.key;
  }

  async read(identity: unknown, relations: readonly string[]): Promise<EntityState | undefined> {
    const named = this.name(identity);
    const own = this.runningFor(named.instanceId);
    if (own !== undefined && relations.length === 0) return own.read();
    try {
      const { state, relations: related } = await getInstance(this.context, named, relations.join(','));
      return { ...(own?.read() ?? state), ...(relations.length === 0 ? {} : { $relations: related }) };
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'instance_not_found') return undefined;
      throw error;
    }
  }

  async submit(records: readonly unknown[]): Promise<readonly WrittenRecord[]> {
    requireShallow(this.step.within);
    const { database } = this.context;
    const collections = await lookUpMembers(database, this.origin, this.definition, records);
    const { model } = this.definition;
    const options = { rejectionBytes: Infinity };
    const { instances, rejections } = groupRecords(model, records, collections, options);
    const written: WrittenRecord[] = records.map(() => ({ state: undefined }));
    for (const { position, error } of rejections) written[position] = { error };
    const others: (typeof instances)[number][] = [];
    for (const instance of instances) {
      const own = this.runningFor(instance.instanceId);
      if (own === undefined) others.push(instance);
      else for (const position of instance.positions) written[position] = joined(own, instance.facts);
    }
    const states = await this.merge(others, records.length > 1);
    for (const { instanceId, positions } of others)
      for (const position of positions) written[position] = { state: states.get(instanceId) };
    return written;
  }

  async remove(identity: unknown): Promise<void> {
    requireShallow(this.step.within);
    const named = this.name(identity);
    if (this.runningFor(named.instanceId) !== undefined)
      throw new ServiceError(
        'evaluation_failed',
        `The instance "${nameOfInstance(this.definition.slug, shown(named.instanceId))}" is the one for which this flow runs, and cannot be deleted by it; delete it by a request.`,
      );
    await deleteInstance(this.context, named, this.step.key).catch((error: unknown) => {
      if (!(error instanceof ServiceError) || error.code !== 'instance_not_found') throw error;
    });
  }

  private async merge(
    instances: readonly (GivenFacts & { readonly positions: readonly number[] })[],
    isBatch: boolean,
  ): Promise<ReadonlyMap<string, EntityState>> {
    const states = new Map<string, EntityState>();
    const changed = new ChangedInstances();
    const { definition, origin, context } = this;
    try {
      for (let from = 0; from < instances.length; from += context.chunkSize) {
        const given = instances.slice(from, from + context.chunkSize);
        const work = { context: definition, origin, given, mode: 'submit', stepKey: this.step.key } as const;
        const { outcomes, failures } = await operate(context.operate, work);
        for (const [id, outcome] of outcomes) {
          states.set(id, outcome.resolved.state);
          changed.add(outcome);
        }
        for (const { instanceId, positions } of given) {
          const failure = failures.get(instanceId);
          if (failure !== undefined) throw isBatch ? ofRecord(failure, positions[0] ?? 0) : failure;
        }
      }
    } finally {
      await this.tellReaders(changed);
    }
    return states;
  }

  /** Upkeep evaluates a reader later if it cannot be evaluated now because the calling operation holds it. */
  private async tellReaders(changed: ChangedInstances): Promise<void> {
    const { context, origin } = this;
    const summaries = new Summaries();
    await cascadeChanges(context, origin, changed, summaries);
    if (summaries.allWell) return;
    const ids = changed.list().map(({ instanceId }) => instanceId);
    await context.database.inWorkspace(origin.access, (transaction) =>
      markPendingCascades(transaction, this.definition.id, ids, 0),
    );
  }

  private runningFor(instanceId: string): RunningOperation | undefined {
    return this.step.within.findLast(
      (operation) => operation.contextId === this.definition.id && operation.instanceId === instanceId,
    );
  }

  private name(identity: unknown): NamedInstance {
    const reading = readIdentity(this.definition.model.identity, identity);
    if (!reading.ok) throw new ServiceError('facts_invalid', `The node names no instance: ${reading.error}.`);
    return { context: this.definition, instanceId: reading.instanceId, origin: this.origin };
  }
}

const joined = (operation: RunningOperation, facts: EntityState): WrittenRecord => {
  try {
    operation.join(facts);
  } catch (error) {
    if (error instanceof Error) return { error: error.message };
    throw error;
  }
  return { state: operation.read() };
};

const ofRecord = (failure: ServiceError, index: number): ServiceError =>
  new ServiceError(failure.code, `Record ${index}: ${failure.message}`, failure.details, { cause: failure.cause });

const requireShallow = (within: readonly RunningOperation[]): void => {
  if (within.length < MOST_NESTED) return;
  throw new ServiceError(
    'evaluation_failed',
    `Operations on instances stand ${MOST_NESTED} deep within one another here, each begun by a flow of the one before, which is the limit; have fewer flows write contexts whose flows write others.`,
    { limit: MOST_NESTED },
  );
};
