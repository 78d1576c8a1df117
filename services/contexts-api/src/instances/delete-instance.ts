import { randomUUID } from 'node:crypto';
import { type DeletedInstance, ServiceError } from '@decision/contracts';
import {
  deleteInstance as deleteStoredInstance,
  findRegistrations,
  lockInstances,
  returnTickets,
  type Transaction,
} from '@decision/persistence';
import { Line } from '../operations/line';
import { operate } from '../operations/operate';
import { findReaderPage, findReadingRelationships, type ReadingRelationship } from '../readers/find-readers';
import { Summaries } from '../readers/summaries';
import { type InstancesContext } from '../service-context';
import { nameOfInstance } from './instance-answers';
import { instanceNotFound } from './instance-errors';
import { type NamedInstance } from './named-instance';

/** Readers of an instance, as they were when it was deleted. */
interface LeftReaders {
  readonly through: ReadingRelationship;
  readonly readerIds: readonly string[];
}

interface Deletion {
  readonly state: Readonly<Record<string, unknown>>;
  readonly registered: number;
  readonly readers: readonly LeftReaders[];
}

/**
 * Deletes an instance once it is its turn, and re-evaluates its readers (C118). Where that fails, the answer names the identities to retry: the
 * deleted foreign key is not known any more. Throws `instance_not_found`, `overloaded`, `deadline_exceeded`.
 */
export const deleteInstance = async (context: InstancesContext, named: NamedInstance): Promise<DeletedInstance> => {
  const { slug } = named.context;
  const { state, registered, readers } = await deleteInTurn(context, named);
  const summaries = new Summaries();
  const told = new Set<string>();
  for (const { through, readerIds } of readers) {
    const open = readerIds.filter((id) => !told.has(`${through.reader.id} ${id}`));
    for (const id of open) told.add(`${through.reader.id} ${id}`);
    for (let from = 0; from < open.length; from += context.chunkSize) {
      const given = open.slice(from, from + context.chunkSize).map((instanceId) => ({ instanceId, facts: {} }));
      summaries.add(
        through,
        await operate(context.operate, { context: through.reader, origin: named.origin, given, mode: 'dependent' }),
      );
    }
  }
  const cascaded = summaries.list();
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
  'Submit the instances named in failed_instance_ids with their identity alone: deleting again cannot find them, since the foreign key is gone.';

const deleteInTurn = async (
  context: InstancesContext,
  { context: definition, instanceId, origin }: NamedInstance,
): Promise<Deletion> => {
  const { database } = context;
  const line = new Line(database, definition, origin, context.operate.line, randomUUID());
  try {
    for (;;) {
      const { ticketId } = line;
      const deletion = await database.inWorkspace(origin.access, async (transaction) => {
        const [locked] = await lockInstances(transaction, {
          contextId: definition.id,
          instanceIds: [instanceId],
          create: false,
          ticketId,
        });
        if (locked === undefined) throw instanceNotFound(definition.slug, instanceId);
        if (locked.isBusy || locked.isQueued) return undefined;
        const readers = await readersOf(transaction, context, { context: definition, instanceId, origin });
        const registered = (await findRegistrations(transaction, definition.id, [instanceId])).length;
        await deleteStoredInstance(transaction, definition.id, instanceId);
        if (ticketId !== undefined) await returnTickets(transaction, ticketId);
        return { state: { ...locked.facts, ...locked.derived }, registered, readers };
      });
      if (deletion !== undefined) return deletion;
      await line.wait([instanceId]);
    }
  } finally {
    await line.leave();
  }
};

/** Readers that are kept in memory at most: deleting what more depend on is refused. */
const MOST_READERS = 100_000;

const readersOf = async (
  transaction: Transaction,
  { directory, chunkSize: limit }: InstancesContext,
  { context, instanceId, origin }: NamedInstance,
): Promise<readonly LeftReaders[]> => {
  const relationships = await findReadingRelationships(transaction, directory, context, origin.access.workspaceId);
  const left: LeftReaders[] = [];
  let count = 0;
  for (const through of relationships) {
    const readerIds: string[] = [];
    for (let after: string | undefined = ''; after !== undefined;) {
      const page = await findReaderPage(transaction, through, context, { sourceIds: [instanceId], after, limit });
      readerIds.push(...page.readerIds);
      after = page.next;
      if ((count += page.readerIds.length) > MOST_READERS) throw tooManyReaders();
    }
    left.push({ through, readerIds });
  }
  return left;
};

const tooManyReaders = (): ServiceError =>
  new ServiceError(
    'invalid_request',
    `More than ${MOST_READERS} instances read this one; delete or move some of them first.`,
    { limit: MOST_READERS },
  );
