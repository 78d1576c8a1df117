import { randomUUID } from 'node:crypto';
import { type DeletedInstance } from '@decision/contracts';
import {
  deleteInstance as deleteStoredInstance,
  findEntityWrites,
  findRegistrations,
  lockInstances,
  markPendingCascades,
  recordEntityWrites,
  returnTickets,
  type Transaction,
} from '@decision/persistence';
import { Summaries } from '../cascades/cascade';
import { cascadePending, type PendingSource } from '../cascades/cascade-changes';
import { findReadingRelationships, type ReadingRelationship } from '../cascades/find-readers';
import { holdDefinition } from '../operations/hold-definition';
import { Line } from '../operations/line';
import { type WritingContext } from '../operations/operate';
import { instanceNotFound, type NamedInstance, nameOfInstance } from './instance-answers';

interface Deletion {
  readonly state: Readonly<Record<string, unknown>>;
  readonly registered: number;
  readonly relationships: readonly ReadingRelationship[];
  /** The deleted instance, if readers of it must be re-evaluated; otherwise empty. */
  readonly pending: readonly PendingSource[];
}

/**
 * Deletes an instance when its turn comes, and re-evaluates its readers (C118). If that fails, the answer names the identities to retry;
 * upkeep retries as well (C120). An instance that a flow's step, named by its key, has deleted before does not exist for that step again.
 * Throws `instance_not_found`, `overloaded`, `deadline_exceeded`.
 */
export const deleteInstance = async (
  context: WritingContext,
  named: NamedInstance,
  stepKey?: string,
): Promise<DeletedInstance> => {
  const { slug, id: contextId } = named.context;
  const { state, registered, relationships, pending } = await deleteInTurn(context, named, stepKey);
  const summaries = new Summaries();
  if (pending.length > 0) await cascadePending(context, named.origin, { contextId, relationships, summaries }, pending);
  const cascaded = named.context.view.summaries(summaries.list());
  const degraded = cascaded.find(({ execution_degraded }) => execution_degraded !== undefined)?.execution_degraded;
  return {
    message: `Instance "${nameOfInstance(slug, named.instanceId)}" was deleted.`,
    pending_evaluations_cancelled: registered,
    cascaded,
    ...(degraded === undefined ? {} : { execution_degraded: degraded }),
    ...(summaries.allWell ? {} : { cascade_recovery: { context: slug, previous_state: state, action: RECOVERY } }),
  };
};

const RECOVERY =
  'Submit the instances named in failed_instance_ids with their identity alone, or wait until the service has evaluated them again: deleting again cannot find them, since the foreign key no longer exists.';

const deleteInTurn = async (
  context: WritingContext,
  named: NamedInstance,
  stepKey: string | undefined,
): Promise<Deletion> => {
  const { database } = context;
  const { context: definition, instanceId, origin } = named;
  const line = new Line(database, definition, origin, context.operate.line, randomUUID());
  try {
    for (;;) {
      const { ticketId } = line;
      const deletion = await database.inWorkspace(origin.access, async (transaction) => {
        await holdDefinition(transaction, context.directory, { context: definition, origin });
        await requireNotDone(transaction, named, stepKey);
        const [locked] = await lockInstances(transaction, {
          contextId: definition.id,
          instanceIds: [instanceId],
          create: false,
          ticketId,
        });
        if (locked === undefined) throw instanceNotFound(definition.slug, instanceId);
        if (locked.isBusy || locked.isQueued) return undefined;
        const relationships = await findReadingRelationships(
          ...([transaction, context.directory, definition, origin.access.workspaceId] as const),
        );
        const registered = (await findRegistrations(transaction, definition.id, [instanceId])).length;
        await deleteStoredInstance(transaction, definition.id, instanceId);
        await recordStep(transaction, named, stepKey);
        const pending = relationships.length === 0 ? [] : await mark(transaction, named);
        if (ticketId !== undefined) await returnTickets(transaction, ticketId);
        return { state: { ...locked.facts, ...locked.derived }, registered, relationships, pending };
      });
      if (deletion !== undefined) return deletion;
      await line.wait([instanceId]);
    }
  } finally {
    await line.leave();
  }
};

const stepOn = ({ context, instanceId }: NamedInstance, key: string) => ({
  contextId: context.id,
  key,
  instanceIds: [instanceId],
});

/** An instance that the step deleted in an earlier run does not exist for it, even if it has been created again since. */
const requireNotDone = async (
  transaction: Transaction,
  named: NamedInstance,
  key: string | undefined,
): Promise<void> => {
  if (key === undefined) return;
  const known = await findEntityWrites(transaction, stepOn(named, key));
  if (known.size > 0) throw instanceNotFound(named.context.slug, named.instanceId);
};

/** No other transaction can have recorded it: this one holds the instance, which existed. */
const recordStep = async (transaction: Transaction, named: NamedInstance, key: string | undefined): Promise<void> => {
  if (key !== undefined) await recordEntityWrites(transaction, stepOn(named, key));
};

/** This request re-evaluates the readers; after its deadline, upkeep takes over (ADR 30). */
const mark = async (
  transaction: Transaction,
  { context, instanceId, origin }: NamedInstance,
): Promise<Deletion['pending']> => {
  const leaseMs = Math.max(0, origin.deadline - Date.now());
  const marks = await markPendingCascades(transaction, context.id, [instanceId], leaseMs);
  return [...marks].map(([id, given]) => ({ instanceId: id, mark: given, begun: undefined, version: 0 }));
};
