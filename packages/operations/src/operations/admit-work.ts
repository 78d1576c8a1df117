import { ServiceError, type SettledInstance } from '@decision/contracts';
import {
  type Admission,
  findEntityWrites,
  findOperation,
  recordEntityWrites,
  returnTickets,
  together,
  type Transaction,
} from '@decision/persistence';
import { type ContextDirectory } from '../definitions/context-directory';
import {
  type AdmissionPlan,
  type Admitted,
  isOperationAlone,
  lockGiven,
  mayStartEarly,
  planAdmission,
  toAdmitted,
  writeAdmission,
} from './admit';
import { type EndWith } from './commit-writes';
import { hasSameFacts, holdDefinition, requireStillFit } from './hold-definition';
import { leaseFrom } from './operation-lease';
import { type AdmissionOutcome, outcomeOfAdmission } from './operation-outcome';
import { type Settler } from './settler';
import { type Work } from './work';

/** The admitted instances, with the work by the definition in force at that time. */
export type AdmittedWork = Admitted & {
  readonly work: Work;
  /** Ids of instances into which an earlier run of the step merged its facts. */
  readonly repeated: readonly string[];
  /** The results of the held instances, if they are being settled already. It may reject; that is handled. */
  readonly settling?: Promise<readonly SettledInstance[]> | undefined;
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
  readonly settler: Settler;
  /** By the definition that the request started with. */
  readonly work: Work;
  readonly given: Work['given'];
  readonly options: { readonly admission: Admission; readonly ticketId: string | undefined };
}

/**
 * Admits instances by the definition in force, in one transaction. Throws {@link WrittenMeanwhile}, and `DefinitionChanged` if the facts do
 * not fit that definition.
 */
export const admitWork = (
  transaction: Transaction,
  admitting: Admitting,
  endWith: EndWith<AdmittedWork>,
): Promise<AdmittedWork> => {
  const { stepKey } = admitting.work;
  return stepKey === undefined
    ? admitGiven(transaction, admitting, endWith)
    : admitStep(transaction, admitting, stepKey);
};

/** The work by the definition in force, which is held. Throws `DefinitionChanged` if the facts no longer fit it. */
const holdFor = async (transaction: Transaction, { directory, work, given }: Admitting): Promise<Work> => {
  const context = await holdDefinition(transaction, directory, work);
  if (!hasSameFacts(context, work.context)) await requireStillFit(transaction, context, given);
  return { ...work, context };
};

/** Rows are locked in the message that queries the definition: they do not depend on it, and it is held before them. */
const admitGiven = async (
  transaction: Transaction,
  admitting: Admitting,
  endWith: EndWith<AdmittedWork>,
): Promise<AdmittedWork> => {
  const { given, options } = admitting;
  const [work, locked] = await together(
    holdFor(transaction, admitting),
    lockGiven(transaction, admitting.work, given, options.ticketId),
  );
  const plan = await planAdmission(transaction, work, { given, locked }, options);
  let settling: AdmittedWork['settling'];
  const complete = (written: Admitted['written']): AdmittedWork => ({
    ...toAdmitted(plan, written),
    ...{ work, repeated: [], settling },
  });
  if (!isOperationAlone(plan)) return complete(await writeAdmission(transaction, plan));
  const write = () => {
    const writing = writeAdmission(transaction, plan, { commits: true });
    if (mayStartEarly(plan)) settling = startEarly(plan, admitting.settler);
    return writing;
  };
  const instanceIds = plan.due.map((instance) => instance.locked.instanceId);
  return endWith({ instanceIds, write, complete, find: (asking) => findAdmission(asking, plan) });
};

/** Has the due instances settled while their admission is being committed (ADR 87). */
const startEarly = ({ work, collections, admission, due }: AdmissionPlan, settler: Settler) => {
  const instances = due.map((planned) => ({ planned, createdAt: planned.locked.createdAt }));
  const settling = settler({ operationId: admission.operationId, work, instances, collections });
  settling.catch(() => undefined); // awaited only once the admission is committed
  return settling;
};

/** Finds out, in another transaction, what became of an admission whose answer was lost. */
const findAdmission = async (
  asking: Transaction,
  { work, admission: { operationId, leaseMs }, due }: AdmissionPlan,
): Promise<AdmissionOutcome> => {
  const versions = new Map(due.map(({ locked }) => [locked.instanceId, locked.version]));
  const { transactionId = '', lockedAt = '' } = due[0]?.locked ?? {};
  const instanceIds = [...versions.keys()];
  const found = await findOperation(asking, { contextId: work.context.id, operationId, instanceIds, transactionId });
  const isLeaseHeld = Date.parse(found.foundAt) < leaseFrom(lockedAt, leaseMs);
  return outcomeOfAdmission(found, { versions, transactionId, isLeaseHeld });
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
  const plan = await planAdmission(transaction, work, { given: fresh, locked }, options);
  const admitted = toAdmitted(plan, await writeAdmission(transaction, plan));
  const merged = fresh.map(({ instanceId }) => instanceId).filter((id) => !admitted.busy.includes(id));
  const isFirst = await recordEntityWrites(transaction, { contextId: context.id, key, instanceIds: merged });
  if (!isFirst) throw new WrittenMeanwhile();
  return { ...admitted, work, repeated };
};
