import { type OperationFound, type WrittenInstance } from '@decision/persistence';

/*
 * What became of a transaction that begins or ends an operation, and whose answer was lost with its commit (C149). The row of the operation
 * tells: it is written by the admission and deleted by the write-back, and others touch it only after its lease, under other fences.
 */

/** What this process knows of the operation. */
interface Known {
  /** Versions of the instances before the transaction, by their ids. */
  readonly versions: ReadonlyMap<string, number>;
  /** Whether nobody can have taken over the operation when this was found. */
  readonly isLeaseHeld: boolean;
}

interface KnownAdmission extends Known {
  readonly transactionId: string;
}

/** The instances as an admission wrote them, or why there are none. */
export type AdmissionOutcome = readonly WrittenInstance[] | 'rolled_back' | 'under_way' | 'unknown';

/** The outcome of an admission. */
export const outcomeOfAdmission = (
  { takeovers, instances, isUnderWay }: OperationFound,
  { versions, isLeaseHeld, transactionId }: KnownAdmission,
): AdmissionOutcome => {
  if (isUnderWay) return 'under_way';
  const isComplete = instances.length === versions.size;
  if (takeovers === 0 && isComplete && instances.every(({ isHeld }) => isHeld))
    return instances.map((instance) => ({ ...instance, transactionId }));
  const isUnchanged = isComplete && instances.every(({ instanceId, version }) => version === versions.get(instanceId));
  return takeovers === undefined && (isLeaseHeld || isUnchanged) ? 'rolled_back' : 'unknown';
};

interface KnownWriteBack extends Known {
  readonly fences: ReadonlyMap<string, number>;
}

/** The outcome of a write-back, from what was found after a repetition of it wrote nothing: so no transaction of it is under way. */
export const outcomeOfWriteBack = (
  { takeovers, instances }: OperationFound,
  { versions, fences, isLeaseHeld }: KnownWriteBack,
): 'written' | 'taken_over' | 'unknown' => {
  if (takeovers !== undefined) return 'taken_over';
  if (instances.length < versions.size) return 'unknown';
  // A take-over releases the instances under a new fence, without a write. A later admission sets a new fence too, but writes.
  if (instances.every(({ instanceId, fence }) => fence === fences.get(instanceId))) return 'written';
  if (instances.every(({ instanceId, version }) => version === versions.get(instanceId))) return 'taken_over';
  return isLeaseHeld ? 'written' : 'unknown';
};
