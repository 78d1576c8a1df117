import { ServiceError } from '@decision/contracts';
import { findEntityWrites, recordEntityWrites, returnTickets, together, type Transaction } from '@decision/persistence';
import { type ContextDirectory } from '../definitions/context-directory';
import { admit, type Admitted, lockGiven } from './admit';
import { hasSameFacts, holdDefinition, requireStillFit } from './commit-writes';
import { type Work } from './work';

/** The admitted instances, with the work by the definition in force at that time. */
export type AdmittedWork = Admitted & {
  readonly work: Work;
  /** Ids of instances into which an earlier run of the step merged its facts. */
  readonly repeated: readonly string[];
};

const NOTHING_ADMITTED: Admitted = { done: [], held: [], busy: [], collections: new Map(), written: [] };

/** Another process runs the same step, and has merged its facts since this one checked. */
export class WrittenMeanwhile extends ServiceError {
  constructor() {
    super('operation_interrupted', 'The same step of the same request is under way elsewhere. Send the request again.');
  }
}

/** Facts for instances to admit. */
interface Admitting {
  readonly directory: ContextDirectory;
  /** By the definition that the request started with. */
  readonly work: Work;
  readonly given: Work['given'];
  readonly options: Parameters<typeof admit>[3];
}

/**
 * Admits instances by the definition in force, in one transaction. Throws {@link WrittenMeanwhile}, and `DefinitionChanged` if the facts do
 * not fit that definition.
 */
export const admitWork = (transaction: Transaction, admitting: Admitting): Promise<AdmittedWork> => {
  const { stepKey } = admitting.work;
  return stepKey === undefined ? admitGiven(transaction, admitting) : admitStep(transaction, admitting, stepKey);
};

/** The work by the definition in force, which is held. Throws `DefinitionChanged` if the facts no longer fit it. */
const holdFor = async (transaction: Transaction, { directory, work, given }: Admitting): Promise<Work> => {
  const context = await holdDefinition(transaction, directory, work);
  if (!hasSameFacts(context, work.context)) await requireStillFit(transaction, context, given);
  return { ...work, context };
};

/** Rows are locked in the message that queries the definition: they do not depend on it, and it is held before them. */
const admitGiven = async (transaction: Transaction, admitting: Admitting): Promise<AdmittedWork> => {
  const { given, options } = admitting;
  const [work, locked] = await together(
    holdFor(transaction, admitting),
    lockGiven(transaction, admitting.work, given, options.ticketId),
  );
  return { ...(await admit(transaction, work, { given, locked }, options)), work, repeated: [] };
};

/** Admits the instances that the step of a flow has not merged before. The record of the step commits together with the merge. */
const admitStep = async (transaction: Transaction, admitting: Admitting, key: string): Promise<AdmittedWork> => {
  const { given, options } = admitting;
  const work = await holdFor(transaction, admitting);
  const { context } = work;
  const instanceIds = given.map(({ instanceId }) => instanceId);
  const known = await findEntityWrites(transaction, { contextId: context.id, key, instanceIds });
  const repeated = instanceIds.filter((id) => known.has(id));
  // A later wait for these instances takes its own ticket.
  if (options.ticketId !== undefined) await returnTickets(transaction, options.ticketId, repeated);
  const fresh = given.filter(({ instanceId }) => !known.has(instanceId));
  if (fresh.length === 0) return { ...NOTHING_ADMITTED, work, repeated };
  const locked = await lockGiven(transaction, work, fresh, options.ticketId);
  const admitted = await admit(transaction, work, { given: fresh, locked }, options);
  const merged = fresh.map(({ instanceId }) => instanceId).filter((id) => !admitted.busy.includes(id));
  const isFirst = await recordEntityWrites(transaction, { contextId: context.id, key, instanceIds: merged });
  if (!isFirst) throw new WrittenMeanwhile();
  return { ...admitted, work, repeated };
};
