import { query, type Transaction } from '../connection/query';
import { among } from './among';
import { END_OPERATION, FENCED, heldBindings, type HeldInstances } from './fence';

const RELEASE = /* sql */ `
  with released as (
    update context_instances i set operation_id = null
    where i.context_id = cast(:context as uuid) and ${among('i')} and ${FENCED}
  )
  ${END_OPERATION}`;

/** Frees instances that an operation still holds, without writing them, and ends the operation. */
export const releaseInstances = async (
  transaction: Transaction,
  contextId: string,
  held: HeldInstances,
): Promise<void> => {
  await query(transaction, RELEASE, { context: contextId, ids: [...held.fences.keys()], ...heldBindings(held) });
};

const RENEW = /* sql */ `
  update context_operations set lease_until = clock_timestamp() + make_interval(secs => cast(:lease as double precision))
  where operation_id = cast(:operation as uuid) and takeovers = cast(:takeovers as integer)`;

/** Says that the holder of an operation is still at work; of one that was taken over nothing changes. */
export const renewLease = async (
  transaction: Transaction,
  { operationId, takeovers }: Omit<HeldInstances, 'fences'>,
  leaseMs: number,
): Promise<void> => {
  await query(transaction, RENEW, { operation: operationId, takeovers, lease: leaseMs / 1_000 });
};
