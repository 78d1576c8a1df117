import { query, type Transaction } from '../connection/query';
import { among } from './among';
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
export interface WrittenInstance {
  readonly instanceId: string;
  readonly version: number;
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

interface WrittenRow {
  readonly instance_id: string;
  readonly version: string;
  readonly fence: string;
  readonly expires_at: Date | null;
}

/**
 * An upsert that never inserts: `held` finds and holds each row by its key, and the conflict with it is certain. An UPDATE that joins the table with the
 * ids reads every row of the context where the table has no statistics, and is a hundred times slower then.
 */
const WRITE = (admission: string, condition: (row: string, given: string) => string): string => /* sql */ `
  insert into context_instances as i (context_id, instance_id, facts, derived, executions, fence, created_at)
  select cast(:context as uuid), w.instance_id, cast(w.facts as jsonb), cast(w.derived as jsonb), cast(w.executions as jsonb), w.fence,
    case when w.is_new = 'true' then clock_timestamp() else '-infinity' end
  from unnest(
    cast(:ids as text[]), cast(:facts as text[]), cast(:derived as text[]), cast(:executions as text[]), cast(:is_new as text[]),
    cast(:fences as bigint[])
  ) as w (instance_id, facts, derived, executions, is_new, fence)
  cross join lateral (
    select from context_instances o
    where o.context_id = cast(:context as uuid) and o.instance_id = w.instance_id and ${condition('o', 'w')}
    for update
  ) held
  on conflict (context_id, instance_id) do update set
    facts = excluded.facts, derived = excluded.derived, executions = excluded.executions,
    version = i.version + 1, updated_at = clock_timestamp(),
    created_at = case when excluded.created_at = '-infinity' then i.created_at else excluded.created_at end,
    reader_pass = case when excluded.created_at = '-infinity' then i.reader_pass end,
    expires_at = case
      when :extends then clock_timestamp() + make_interval(secs => cast(:ttl as double precision))
      else i.expires_at
    end,
    ${admission}
  where ${condition('i', 'excluded')}
  returning i.instance_id, i.version, i.fence, i.expires_at`;

const MERGE = WRITE(
  `operation_id = cast(:operation as uuid),
   fence = i.fence + case when cast(:operation as uuid) is null then 0 else 1 end,
   lease_until = case when cast(:operation as uuid) is null then null
     else clock_timestamp() + make_interval(secs => cast(:lease as double precision)) end`,
  (row) => `${row}.operation_id is null`,
);

/** Whoever lost the fence writes nothing (C142). */
const WRITE_BACK = WRITE(
  'operation_id = null, lease_until = null',
  (row, given) => `${row}.operation_id = cast(:operation as uuid) and ${row}.fence = ${given}.fence`,
);

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
    query<WrittenRow>(transaction, MERGE, {
      ...bindingsOf(writes, options),
      fences: writes.map(() => '0'),
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
    query<WrittenRow>(transaction, WRITE_BACK, {
      ...bindingsOf(writes, options),
      fences: writes.map(({ instanceId }) => String(fences.get(instanceId) ?? -1)),
      operation: operationId,
    }),
  );
  return rows.map(toWritten);
};

const toWritten = ({ instance_id, version, fence, expires_at }: WrittenRow): WrittenInstance => ({
  instanceId: instance_id,
  version: Number(version),
  fence: Number(fence),
  expiresAt: expires_at?.toISOString() ?? null,
});

const RELEASE = /* sql */ `
  update context_instances i set operation_id = null, lease_until = null
  from unnest(cast(:ids as text[]), cast(:fences as bigint[])) as h (instance_id, fence)
  where i.context_id = cast(:context as uuid) and ${among('i')} and i.instance_id = h.instance_id
    and i.operation_id = cast(:operation as uuid) and i.fence = h.fence`;

const RENEW = /* sql */ `
  update context_instances i set lease_until = clock_timestamp() + make_interval(secs => cast(:lease as double precision))
  from unnest(cast(:ids as text[]), cast(:fences as bigint[])) as h (instance_id, fence)
  where i.context_id = cast(:context as uuid) and ${among('i')} and i.instance_id = h.instance_id
    and i.operation_id = cast(:operation as uuid) and i.fence = h.fence`;

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

const ADMISSIONS = /* sql */ `
  select i.instance_id, i.operation_id, i.fence, i.version, i.expires_at from context_instances i
  where i.context_id = cast(:context as uuid) and i.instance_id = any (cast(:ids as text[]))`;

/** What rows say of operations on them. */
export interface AdmissionState extends WrittenInstance {
  /** The operation that holds it; null where it is free. */
  readonly operationId: string | null;
}

/** What the rows of instances say of operations at the moment: how an outcome that got lost is found out (C149). */
export const findAdmissions = async (
  transaction: Transaction,
  contextId: string,
  instanceIds: readonly string[],
): Promise<readonly AdmissionState[]> => {
  const rows = await query<WrittenRow & { operation_id: string | null }>(transaction, ADMISSIONS, {
    context: contextId,
    ids: instanceIds,
  });
  return rows.map((row) => ({ ...toWritten(row), operationId: row.operation_id }));
};
