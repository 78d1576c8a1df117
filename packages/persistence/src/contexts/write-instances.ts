import { query, type Transaction } from '../connection/query';
import { among } from './among';
import { type WrittenRow } from './commit-outcome';
import { type StoredExecutions, type StoredFacts } from './instance-record';
import { refuseTooLarge } from './refuse-too-large';

/** What an instance becomes. */
export interface InstanceWrite {
  readonly instanceId: string;
  readonly facts: StoredFacts;
  readonly derived: StoredFacts;
  readonly executions: StoredExecutions;
  /** Whether the row starts anew: its creation is now. */
  readonly isNew: boolean;
}

export interface WriteOptions {
  readonly contextId: string;
  /** Seconds after which the instances expire; null: never. Undefined: they expire when they would have (C105). */
  readonly ttlSeconds: number | null | undefined;
}

/** An instance that was written. Times are ISO 8601 UTC with milliseconds. */
export interface WrittenInstance extends WrittenRow {
  readonly fence: number;
  readonly expiresAt: string | null;
}

/** An admission of instances to one operation. */
export interface Admission {
  readonly operationId: string;
  /** How long the operation may be silent before others take it over, ms. */
  readonly leaseMs: number;
}

/** Instances that an operation holds, as it was admitted. */
export interface HeldInstances {
  readonly operationId: string;
  /** By instance id. */
  readonly fences: ReadonlyMap<string, number>;
}

interface ReturnedRow {
  readonly instance_id: string;
  readonly version: string;
  readonly fence: string;
  readonly expires_at: Date | null;
  readonly updated_at: Date;
  readonly transaction_id: string;
}

/**
 * Every list has one element an instance, found by the place of its id. A join with the lists would be plainer; but as long as the database has
 * no statistics of the table, it takes the rows for one and compares each with each of the lists.
 */
const WRITE = (admission: string, condition: string): string => /* sql */ `
  update context_instances i set
    (facts, derived, executions, created_at, reader_pass) = (
      select
        cast((cast(:facts as text[]))[w.at] as jsonb), cast((cast(:derived as text[]))[w.at] as jsonb),
        cast((cast(:executions as text[]))[w.at] as jsonb),
        case when (cast(:is_new as text[]))[w.at] = 'true' then clock_timestamp() else i.created_at end,
        case when (cast(:is_new as text[]))[w.at] = 'true' then null else i.reader_pass end
      from (select array_position(cast(:ids as text[]), i.instance_id)) as w (at)
    ),
    version = i.version + 1, updated_at = clock_timestamp(),
    expires_at = case
      when :extends then clock_timestamp() + make_interval(secs => cast(:ttl as double precision))
      else i.expires_at
    end,
    ${admission}
  where i.context_id = cast(:context as uuid) and ${among('i')} and ${condition}
  returning i.instance_id, i.version, i.fence, i.expires_at, i.updated_at, cast(pg_current_xact_id() as text) as transaction_id`;

const MERGE = WRITE(
  `operation_id = cast(:operation as uuid),
   fence = i.fence + case when cast(:operation as uuid) is null then 0 else 1 end,
   lease_until = case when cast(:operation as uuid) is null then null
     else clock_timestamp() + make_interval(secs => cast(:lease as double precision)) end`,
  'i.operation_id is null',
);

/** Whether the operation still holds the row under the fence that it was admitted with. */
const FENCED =
  'i.operation_id = cast(:operation as uuid) and i.fence = (cast(:fences as bigint[]))[array_position(cast(:ids as text[]), i.instance_id)]';

/** Whoever lost the fence writes nothing (C142). */
const WRITE_BACK = WRITE('operation_id = null, lease_until = null', FENCED);

const bindingsOf = (writes: readonly InstanceWrite[], { contextId, ttlSeconds }: WriteOptions) => ({
  context: contextId,
  ids: writes.map(({ instanceId }) => instanceId),
  facts: writes.map(({ facts }) => JSON.stringify(facts)),
  derived: writes.map(({ derived }) => JSON.stringify(derived)),
  executions: writes.map(({ executions }) => JSON.stringify(executions)),
  is_new: writes.map(({ isNew }) => String(isNew)),
  extends: ttlSeconds !== undefined,
  ttl: ttlSeconds ?? null,
});

/**
 * Writes free instances whose rows this transaction holds; with an admission they become busy with that operation in the same statement (C141).
 * Throws `payload_too_large` for an instance of more than 64 MiB.
 */
export const writeInstances = async (
  transaction: Transaction,
  writes: readonly InstanceWrite[],
  options: WriteOptions & { readonly admission?: Admission | undefined },
): Promise<readonly WrittenInstance[]> => {
  const { admission } = options;
  const rows = await refuseTooLarge(() =>
    query<ReturnedRow>(transaction, MERGE, {
      ...bindingsOf(writes, options),
      operation: admission?.operationId ?? null,
      lease: (admission?.leaseMs ?? 0) / 1_000,
    }),
  );
  return rows.map(toWritten);
};

/**
 * Writes what an operation made of its instances and frees them; answers those that it still held (C142). Throws `payload_too_large` for an
 * instance of more than 64 MiB.
 */
export const writeBackInstances = async (
  transaction: Transaction,
  writes: readonly InstanceWrite[],
  options: WriteOptions & { readonly held: HeldInstances },
): Promise<readonly WrittenInstance[]> => {
  const { operationId, fences } = options.held;
  const rows = await refuseTooLarge(() =>
    query<ReturnedRow>(transaction, WRITE_BACK, {
      ...bindingsOf(writes, options),
      fences: writes.map(({ instanceId }) => String(fences.get(instanceId) ?? -1)),
      operation: operationId,
    }),
  );
  return rows.map(toWritten);
};

const toWritten = (row: ReturnedRow): WrittenInstance => ({
  instanceId: row.instance_id,
  version: Number(row.version),
  fence: Number(row.fence),
  expiresAt: row.expires_at?.toISOString() ?? null,
  writtenAt: row.updated_at.toISOString(),
  transactionId: row.transaction_id,
});

const RELEASE = /* sql */ `
  update context_instances i set operation_id = null, lease_until = null
  where i.context_id = cast(:context as uuid) and ${among('i')} and ${FENCED}`;

const RENEW = /* sql */ `
  update context_instances i set lease_until = clock_timestamp() + make_interval(secs => cast(:lease as double precision))
  where i.context_id = cast(:context as uuid) and ${among('i')} and ${FENCED}`;

const heldBindings = (contextId: string, { operationId, fences }: HeldInstances) => ({
  context: contextId,
  operation: operationId,
  ids: [...fences.keys()],
  fences: [...fences.values()].map(String),
});

/** Frees instances that an operation still holds, without writing them. */
export const releaseInstances = async (
  transaction: Transaction,
  contextId: string,
  held: HeldInstances,
): Promise<void> => {
  await query(transaction, RELEASE, heldBindings(contextId, held));
};

/** Says that an operation is still at work. */
export const renewLeases = async (
  transaction: Transaction,
  contextId: string,
  held: HeldInstances,
  leaseMs: number,
): Promise<void> => {
  await query(transaction, RENEW, { ...heldBindings(contextId, held), lease: leaseMs / 1_000 });
};
