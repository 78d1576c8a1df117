import { packExecutions, ServiceError } from '@decision/contracts';
import { DatabaseError } from 'pg';
import { type Bindings, query, type Transaction } from '../connection/query';
import { END_OPERATION, FENCED, heldBindings, type HeldInstances } from './admission';
import { type WrittenRow } from './commit-outcome';
import { alive, among, type StoredExecutions, type StoredFacts } from './instances';

/** New state of an instance. */
export interface InstanceWrite {
  readonly instanceId: string;
  readonly facts: StoredFacts;
  readonly derived: StoredFacts;
  /** Undefined: unchanged; a row that starts anew has none. */
  readonly executions?: StoredExecutions | undefined;
  /** Whether the row starts anew: it is created now. */
  readonly isNew: boolean;
}

interface WriteOptions {
  readonly contextId: string;
  /** Lifetime of the instances, seconds; null: unlimited. Undefined: the expiry is unchanged (C105). */
  readonly ttlSeconds: number | null | undefined;
}

/** An instance that was written. Times are ISO 8601 UTC with milliseconds. */
export interface WrittenInstance extends WrittenRow {
  readonly fence: number;
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

/** An admission of instances to one operation. */
export interface Admission {
  readonly operationId: string;
  /** Time without a renewal after which other processes take over the operation, ms. */
  readonly leaseMs: number;
  /** The operation that runs the flow whose node requested this one; undefined if no flow did. */
  readonly parentId?: string | undefined;
}

interface ReturnedRow {
  readonly instance_id: string;
  readonly version: string;
  readonly fence: string;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly updated_at: Date;
  readonly transaction_id: string;
}

/**
 * New states are one object by the ids of instances, and each row looks itself up in it. A join with a list would be simpler; but without
 * statistics of the table, the database plans for a single row and compares each row with each element of the list (ADR 21).
 */
const WRITE = (admission: string, condition: string): string => /* sql */ `
  update context_instances i set
    (facts, derived, executions, created_at, reader_pass) = (
      select
        w.write -> 'facts', w.write -> 'derived',
        coalesce(w.write -> 'executions', case when w.write -> 'isNew' = 'true' then jsonb '{}' else i.executions end),
        case when w.write -> 'isNew' = 'true' then clock_timestamp() else i.created_at end,
        case when w.write -> 'isNew' = 'true' then null else i.reader_pass end
      from (select cast(:writes as jsonb) -> i.instance_id offset 0) as w (write)
    ),
    version = i.version + 1, updated_at = clock_timestamp(),
    expires_at = case
      when :extends then clock_timestamp() + make_interval(secs => cast(:ttl as double precision))
      else i.expires_at
    end,
    ${admission}
  where i.context_id = cast(:context as uuid) and ${among('i')} and ${condition}
  returning i.instance_id, i.version, i.fence, i.created_at, i.expires_at, i.updated_at,
    cast(pg_current_xact_id() as text) as transaction_id`;

const MERGE = WRITE('operation_id = null', 'i.operation_id is null');

/** The instances and the operation that holds them are written together. */
const ADMIT = /* sql */ `
  with admitted as (
    ${WRITE('operation_id = cast(:operation as uuid), fence = i.fence + 1', 'i.operation_id is null')}
  ), operation as (
    insert into context_operations as o (
      operation_id, context_id, instance_ids, lease_until, parent_id, root_id, root_began_at
    )
    select cast(:operation as uuid), cast(:context as uuid), array_agg(a.instance_id),
      clock_timestamp() + make_interval(secs => cast(:lease as double precision)),
      cast(:parent as uuid), cast(max(cast(coalesce(p.root_id, p.operation_id) as text)) as uuid),
      coalesce(max(p.root_began_at), clock_timestamp())
    from admitted a left join context_operations p on p.operation_id = cast(:parent as uuid)
    having count(*) > 0
    on conflict (operation_id) do update set instance_ids = o.instance_ids || excluded.instance_ids
  )
  select * from admitted`;

/** A holder that lost the fence writes nothing (C142); the operation ends with its holder. */
const writeBack = (condition: string): string => /* sql */ `
  with written as (
    ${WRITE('operation_id = null', `${FENCED} and ${condition}`)}
  ), ended as (
    ${END_OPERATION} and ${condition}
  )
  select * from written`;
const WRITE_BACK = writeBack('true');
/**
 * Holds the definition, and writes only if it has a certain revision. It is held before the first row is locked, since conditions are
 * checked before; and the function sees what was committed while it waited.
 */
const WRITE_BACK_AT_REVISION = writeBack('(select hold_context(cast(:context as uuid))) = cast(:revision as bigint)');

/** Largest size of the facts of one statement with several instances, characters: a JSON object of the database must be below 256 MiB. */
const MOST_CHARACTERS = 16 * 1024 * 1024;

/** Writes of one statement, by their ids and as one JSON object. */
interface WriteGroup {
  readonly ids: string[];
  readonly writes: string[];
}

const groupWrites = (writes: readonly InstanceWrite[]): readonly WriteGroup[] => {
  const groups: WriteGroup[] = [];
  let characters = Infinity;
  for (const write of writes) {
    const text = `${JSON.stringify(write.instanceId)}:${JSON.stringify(toStored(write))}`;
    characters += text.length;
    if (characters > MOST_CHARACTERS) {
      groups.push({ ids: [], writes: [] });
      characters = text.length;
    }
    groups.at(-1)?.ids.push(write.instanceId);
    groups.at(-1)?.writes.push(text);
  }
  return groups;
};

/** The part of a write that the statement reads. */
const toStored = ({ facts, derived, executions, isNew }: InstanceWrite) => ({
  ...{ facts, derived, executions: executions && packExecutions(executions) },
  ...(isNew ? { isNew } : {}),
});

/** With `commits`, the transaction commits with the write if that is one statement. */
const run = async (
  transaction: Transaction,
  sql: string,
  writes: readonly InstanceWrite[],
  bindings: Bindings,
  { commits = false } = {},
): Promise<readonly WrittenInstance[]> => {
  const written: WrittenInstance[] = [];
  const groups = groupWrites(writes);
  const runner = commits && groups.length === 1 ? { raw: transaction.commitWith } : transaction;
  for (const group of groups) {
    const own = { ids: group.ids, writes: `{${group.writes.join(',')}}` };
    const rows = await refuseTooLarge(() => query<ReturnedRow>(runner, sql, { ...bindings, ...own }));
    written.push(...rows.map(toWritten));
  }
  return written;
};

const bindingsOf = ({ contextId, ttlSeconds }: WriteOptions) => ({
  context: contextId,
  extends: ttlSeconds !== undefined,
  ttl: ttlSeconds ?? null,
});

/**
 * Writes free instances whose rows this transaction holds; with an admission they become busy with that operation in the same statement
 * (C141). With `commits` nothing is written after it: the transaction may commit with it ({@link Transaction.commitWith}). Throws
 * `payload_too_large` for an instance of more than 64 MiB.
 */
export const writeInstances = (
  transaction: Transaction,
  writes: readonly InstanceWrite[],
  options: WriteOptions & { readonly admission?: Admission | undefined; readonly commits?: boolean },
): Promise<readonly WrittenInstance[]> => {
  const { admission, commits } = options;
  if (admission === undefined) return run(transaction, MERGE, writes, bindingsOf(options), { commits });
  const { operationId: operation, leaseMs, parentId: parent = null } = admission;
  const bindings = { ...bindingsOf(options), operation, parent, lease: leaseMs / 1_000 };
  return run(transaction, ADMIT, writes, bindings, { commits });
};

interface WriteBackOptions extends WriteOptions {
  readonly held: HeldInstances;
  /**
   * If given, the definition of the context is held first, and nothing is written if its revision is another; and nothing follows this
   * write: the transaction may commit with it ({@link Transaction.commitWith}).
   */
  readonly commitsAt?: string | undefined;
}

/**
 * Writes the results of an operation on its instances, frees them and ends the operation; answers those that it still held (C142). Throws
 * `payload_too_large` for an instance of more than 64 MiB.
 */
export const writeBackInstances = (
  transaction: Transaction,
  writes: readonly InstanceWrite[],
  options: WriteBackOptions,
): Promise<readonly WrittenInstance[]> => {
  const { held, commitsAt } = options;
  const bindings = { ...bindingsOf(options), ...heldBindings(held) };
  if (commitsAt === undefined) return run(transaction, WRITE_BACK, writes, bindings);
  const atRevision = { ...bindings, revision: commitsAt };
  return run(transaction, WRITE_BACK_AT_REVISION, writes, atRevision, { commits: true });
};

const toWritten = (row: ReturnedRow): WrittenInstance => ({
  instanceId: row.instance_id,
  version: Number(row.version),
  fence: Number(row.fence),
  createdAt: row.created_at.toISOString(),
  expiresAt: row.expires_at?.toISOString() ?? null,
  writtenAt: row.updated_at.toISOString(),
  transactionId: row.transaction_id,
});

/** Facts for one instance; its identity is among them. */
interface DirectMerge {
  readonly instanceId: string;
  readonly facts: StoredFacts;
}

/** An instance that was merged. */
export interface DirectlyMerged extends WrittenRow {
  readonly isNew: boolean;
  readonly facts: StoredFacts;
  /** ISO 8601 UTC with milliseconds; null: never. */
  readonly expiresAt: string | null;
}

interface MergedRow {
  readonly instance_id: string;
  readonly is_new: boolean;
  readonly facts: StoredFacts;
  readonly expires_at: Date | null;
  readonly version: string;
  readonly updated_at: Date;
  readonly transaction_id: string;
}

/**
 * Free rows with an empty queue that have not expired; others are left to the queue. So are rows in which an asset that was once bound owns
 * a given fact: facts that assets own are changed there.
 */
const MERGE_DIRECTLY = /* sql */ `
  insert into context_instances as i (context_id, instance_id, facts, version, expires_at)
  select cast(:context as uuid), given.instance_id, cast(given.facts as jsonb), 1,
    clock_timestamp() + make_interval(secs => cast(:ttl as double precision))
  from unnest(cast(:ids as text[]), cast(:facts as text[])) as given (instance_id, facts)
  order by given.instance_id collate "C"
  on conflict (context_id, instance_id) do update set
    facts = i.facts || excluded.facts, version = i.version + 1, expires_at = excluded.expires_at, updated_at = clock_timestamp()
  where i.operation_id is null and ${alive} and not exists (
    select from context_tickets t
    where t.context_id = i.context_id and t.instance_id = i.instance_id and t.lease_until > clock_timestamp()
  ) and not exists (
    select from jsonb_each(i.executions) as asset, jsonb_array_elements_text(asset.value -> 'owned_facts') as owned (fact)
    where excluded.facts -> owned.fact is not null
  )
  returning i.instance_id, i.version = 1 as is_new, i.facts, i.expires_at, i.version, i.updated_at,
    cast(pg_current_xact_id() as text) as transaction_id`;

/**
 * Merges records into instances in one statement (C140), for contexts without formulas, history, links and assets. Ids are distinct.
 * Answers the merged instances; busy and expired ones are skipped. Throws `payload_too_large`.
 */
export const mergeDirect = async (
  transaction: Transaction,
  contextId: string,
  merges: readonly DirectMerge[],
  ttlSeconds: number | null,
): Promise<readonly DirectlyMerged[]> => {
  const rows = await refuseTooLarge(() =>
    query<MergedRow>(transaction, MERGE_DIRECTLY, {
      context: contextId,
      ids: merges.map(({ instanceId }) => instanceId),
      facts: merges.map(({ facts }) => JSON.stringify(facts)),
      ttl: ttlSeconds,
    }),
  );
  return rows.map((row) => ({
    instanceId: row.instance_id,
    isNew: row.is_new,
    facts: row.facts,
    expiresAt: row.expires_at?.toISOString() ?? null,
    version: Number(row.version),
    writtenAt: row.updated_at.toISOString(),
    transactionId: row.transaction_id,
  }));
};

const CHECK_VIOLATION = '23514';
const LIMIT_BYTES = 64 * 1024 * 1024;

/** Runs a write of instances. Throws `payload_too_large` if the table refuses one of more than 64 MiB. */
const refuseTooLarge = async <T>(write: () => Promise<T>): Promise<T> => {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== CHECK_VIOLATION) throw error;
    const message =
      'An instance would exceed 64 MiB of facts and executions, as the database stores them; no part of this transaction was merged.';
    throw new ServiceError('payload_too_large', message, { limit_bytes: LIMIT_BYTES });
  }
};
