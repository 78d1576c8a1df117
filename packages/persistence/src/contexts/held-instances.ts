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

const ADMISSIONS = /* sql */ `
  select i.instance_id, i.operation_id, i.fence, i.version, i.expires_at from context_instances i
  where i.context_id = cast(:context as uuid) and ${among('i')}`;

interface AdmissionRow {
  readonly instance_id: string;
  readonly operation_id: string | null;
  readonly fence: string;
  readonly version: string;
  readonly expires_at: Date | null;
}

/** What a row says of operations on it. */
export interface AdmissionState {
  readonly instanceId: string;
  /** The operation that holds it; null where it is free. */
  readonly operationId: string | null;
  readonly fence: number;
  readonly version: number;
  /** ISO 8601 UTC with milliseconds; null: never. */
  readonly expiresAt: string | null;
}

/** What the rows of instances say of operations at the moment: how an outcome that got lost is found out (C149). */
export const findAdmissions = async (
  transaction: Transaction,
  contextId: string,
  instanceIds: readonly string[],
): Promise<readonly AdmissionState[]> => {
  const rows = await query<AdmissionRow>(transaction, ADMISSIONS, { context: contextId, ids: instanceIds });
  return rows.map((row) => ({
    instanceId: row.instance_id,
    operationId: row.operation_id,
    fence: Number(row.fence),
    version: Number(row.version),
    expiresAt: row.expires_at?.toISOString() ?? null,
  }));
};
