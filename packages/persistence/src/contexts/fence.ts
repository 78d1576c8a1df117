import { query, type Transaction } from '../connection/query';
import { among } from './instance-record';

/** Instances that an operation holds, as it was admitted. */
export interface HeldInstances {
  readonly operationId: string;
  /** How often it had been taken over when this holder began; 0 for who was admitted. */
  readonly takeovers: number;
  /** By instance id. */
  readonly fences: ReadonlyMap<string, number>;
}

/** Whether the operation still holds the row `i` under the fence that its holder knows. */
export const FENCED =
  'i.operation_id = cast(:operation as uuid) and i.fence = cast(cast(:fences as jsonb) ->> i.instance_id as bigint)';

/** Bindings of {@link FENCED} and the statements around it. */
export const heldBindings = ({ operationId, takeovers, fences }: HeldInstances) => ({
  operation: operationId,
  takeovers,
  fences: JSON.stringify(Object.fromEntries(fences)),
});

/** An operation ends with its holder: who took it over since then ends it himself. */
export const END_OPERATION = /* sql */ `
  delete from context_operations where operation_id = cast(:operation as uuid) and takeovers = cast(:takeovers as integer)`;

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
