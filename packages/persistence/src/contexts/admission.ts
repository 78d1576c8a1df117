import { query, type Transaction } from '../connection/query';
import { together } from '../connection/together';
import { isUuid } from '../connection/uuid';
import { linksOf } from './links';
import { alive, among, type InstanceState, stateColumns, type StateRow, toInstanceState } from './instances';
import { markPendingCascades } from './pending-cascades';
import { findRegistrations, type Registration } from './registrations';

/** An instance whose row this transaction holds. */
export interface LockedInstance extends InstanceState {
  /** Whether it is unwritten or has expired; then it is empty. */
  readonly isNew: boolean;
  /** Whether an operation holds it. */
  readonly isBusy: boolean;
  /** Whether an earlier operation waits for it. */
  readonly isQueued: boolean;
  /** The database's id of this transaction. */
  readonly transactionId: string;
  /** By the clock of the database, ISO 8601 UTC with milliseconds. */
  readonly lockedAt: string;
  /** Creation of the row; a new instance may be younger than its row. ISO 8601 UTC with milliseconds. */
  readonly createdAt: string;
  /** Registered evaluations; empty if they were not requested. */
  readonly registrations: readonly Registration[];
}

interface InstancesToLock {
  readonly contextId: string;
  /** Distinct. */
  readonly instanceIds: readonly string[];
  /** Whether missing rows are created. */
  readonly create: boolean;
  /** The ticket of the caller: only earlier ones count as waiting. */
  readonly ticketId?: string | undefined;
  /** Whether registered evaluations are read too. Default: false. */
  readonly withRegistrations?: boolean;
}

const CREATE = /* sql */ `
  insert into context_instances (context_id, instance_id)
  select cast(:context as uuid), id from unnest(cast(:ids as text[])) as id order by id collate "C"
  on conflict do nothing`;

const LOCK = /* sql */ `
  select ${stateColumns}, i.created_at, i.operation_id is not null as busy, not ${alive} as expired,
    exists (
      select from context_tickets t
      where t.context_id = i.context_id and t.instance_id = i.instance_id and t.lease_until > clock_timestamp()
        and t.sequence < coalesce((
          select own.sequence from context_tickets own
          where own.context_id = i.context_id and own.instance_id = i.instance_id and own.ticket_id = cast(:ticket as uuid)
        ), 9223372036854775807)
    ) as queued, cast(pg_current_xact_id() as text) as transaction_id, clock_timestamp() as locked_at
  from context_instances i
  where i.context_id = cast(:context as uuid) and i.instance_id = any (cast(:ids as text[]))
  order by i.instance_id
  for update of i`;

const FORGET = [
  ...['context_history', 'context_registrations'].map(
    (table) =>
      /* sql */ `delete from ${table} where context_id = cast(:context as uuid) and instance_id = any (cast(:ids as text[]))`,
  ),
  // The instances that it named must still be re-evaluated. Found one by one, as links are (ADR 82).
  /* sql */ `
  update context_links set former = true
  where not former and ctid = any (array(
    select l.ctid from unnest(cast(:ids as text[])) as gone (id) cross join lateral (${linksOf('gone.id')}) l
    where not l.former
  ))`,
];
const IS_READ = /* sql */ `select context_is_read(cast(:context as uuid)) as is_read`;

/** Time in which a submission of an expired instance must re-evaluate the readers of the former one, ms: the longest duration of requests. */
const TELL_LEASE_MS = 300_000;

interface LockedRow extends StateRow {
  readonly busy: boolean;
  readonly expired: boolean;
  readonly queued: boolean;
  readonly transaction_id: string;
  readonly locked_at: Date;
  readonly created_at: Date;
}

/**
 * Locks the rows of instances, in the order of their ids, so that transactions do not deadlock. Expired, free instances are returned empty;
 * of the former one only the links to its readers are kept (C106).
 */
export const lockInstances = async (
  transaction: Transaction,
  { contextId, instanceIds, create, ticketId, withRegistrations = false }: InstancesToLock,
): Promise<readonly LockedInstance[]> => {
  const bindings = { context: contextId, ids: instanceIds };
  // Registrations are read by a statement after the one that waits for the rows: nobody else registers anything then.
  const lock = () =>
    together(
      query<LockedRow>(transaction, LOCK, { ...bindings, ticket: ticketId ?? null }),
      withRegistrations ? findRegistrations(transaction, contextId, instanceIds) : NONE_REGISTERED,
    );
  // A single row cannot be locked out of order. It usually exists already, and nothing has to be created.
  let [rows, registrations] = instanceIds.length === 1 || !create ? await lock() : [[], []];
  if (create && rows.length === 0)
    [, [rows, registrations]] = await together(query(transaction, CREATE, bindings), lock());
  const gone = rows.filter(({ busy, expired }) => expired && !busy).map(({ instance_id }) => instance_id);
  if (gone.length > 0) await forget(transaction, contextId, gone);
  const registered = new Map<string, Registration[]>();
  for (const one of registrations) {
    const known = registered.get(one.instanceId);
    if (known === undefined) registered.set(one.instanceId, [one]);
    else known.push(one);
  }
  return rows
    .filter(({ version, busy, expired }) => create || busy || !(expired || version === '0'))
    .map((row) => toLocked(row, registered.get(row.instance_id) ?? []));
};

const NONE_REGISTERED: Promise<readonly Registration[]> = Promise.resolve([]);

const forget = async (transaction: Transaction, contextId: string, ids: readonly string[]): Promise<void> => {
  const [[row]] = await together(
    query<{ is_read: boolean }>(transaction, IS_READ, { context: contextId }),
    ...FORGET.map((sql) => query(transaction, sql, { context: contextId, ids })),
  );
  if (row?.is_read === true) await markPendingCascades(transaction, contextId, ids, TELL_LEASE_MS);
};

const toLocked = (row: LockedRow, registrations: readonly Registration[]): LockedInstance => {
  const { busy: isBusy, queued: isQueued, expired, version, transaction_id: transactionId } = row;
  const times = { lockedAt: row.locked_at.toISOString(), createdAt: row.created_at.toISOString() };
  const flags = { isBusy, isQueued, transactionId, ...times };
  const state = toInstanceState(row);
  if (!expired || isBusy) return { ...state, ...flags, registrations, isNew: version === '0' };
  const nothing = { facts: {}, derived: {}, executions: {}, readerPass: undefined, registrations: [] };
  return { ...state, ...flags, ...nothing, isNew: true };
};

/** Instances that an operation holds, as admitted. */
export interface HeldInstances {
  readonly operationId: string;
  /** Number of earlier take-overs when this holder started; 0 for the admitting process. */
  readonly takeovers: number;
  /** By instance id. */
  readonly fences: ReadonlyMap<string, number>;
}

/** Whether the operation still holds the row `i` under the fence of its holder. */
export const FENCED =
  'i.operation_id = cast(:operation as uuid) and i.fence = cast(cast(:fences as jsonb) ->> i.instance_id as bigint)';

/** Bindings of {@link FENCED} and the statements around it. */
export const heldBindings = ({ operationId, takeovers, fences }: HeldInstances) => ({
  operation: operationId,
  takeovers,
  fences: JSON.stringify(Object.fromEntries(fences)),
});

/** Ends only the operation of this holder: a process that has taken it over ends it itself. */
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

const RENEW_LEASE = /* sql */ `
  update context_operations set lease_until = clock_timestamp() + make_interval(secs => cast(:lease as double precision))
  where operation_id = cast(:operation as uuid) and takeovers = cast(:takeovers as integer)
  returning lease_until`;

/**
 * Renews the lease of an operation whose holder is still at work. Answers until when, by the clock of the database, ISO 8601 UTC with
 * milliseconds; undefined if the operation has ended or was taken over.
 */
export const renewLease = async (
  transaction: Transaction,
  { operationId, takeovers }: Omit<HeldInstances, 'fences'>,
  leaseMs: number,
): Promise<string | undefined> => {
  const bindings = { operation: operationId, takeovers, lease: leaseMs / 1_000 };
  const [renewed] = await query<{ lease_until: Date }>(transaction, RENEW_LEASE, bindings);
  return renewed?.lease_until.toISOString();
};

/** A ticket in the queues of some instances, held by one request. */
interface Ticket {
  /** A UUID. */
  readonly ticketId: string;
  /** Lifetime without renewal, ms. */
  readonly leaseMs: number;
}

interface TicketToTake extends Ticket {
  /** Longest queue that it joins. */
  readonly most: number;
  /** The operation whose flow waits; undefined if none does. */
  readonly forOperation?: string | undefined;
}

const LONGEST = /* sql */ `
  select count(*) as waiting from context_tickets
  where context_id = cast(:context as uuid) and instance_id = any (cast(:ids as text[])) and lease_until > clock_timestamp()
  group by instance_id order by count(*) desc limit 1`;

const TAKE = /* sql */ `
  insert into context_tickets (context_id, instance_id, ticket_id, for_operation, lease_until)
  select cast(:context as uuid), id, cast(:ticket as uuid), cast(:operation as uuid),
    clock_timestamp() + make_interval(secs => cast(:lease as double precision))
  from unnest(cast(:ids as text[])) as id order by id collate "C"`;

/** Takes a ticket behind all requests that wait for these instances; false if a queue has `most` tickets already (C144). */
export const takeTickets = async (
  transaction: Transaction,
  contextId: string,
  instanceIds: readonly string[],
  { ticketId, leaseMs, most, forOperation }: TicketToTake,
): Promise<boolean> => {
  const bindings = { context: contextId, ids: instanceIds };
  const [longest] = await query<{ waiting: string }>(transaction, LONGEST, bindings);
  if (Number(longest?.waiting ?? 0) >= most) return false;
  await query(transaction, TAKE, {
    ...bindings,
    ticket: ticketId,
    operation: forOperation ?? null,
    lease: leaseMs / 1_000,
  });
  return true;
};

const RENEW_TICKETS = /* sql */ `
  update context_tickets set lease_until = clock_timestamp() + make_interval(secs => cast(:lease as double precision))
  where ticket_id = cast(:ticket as uuid)
  returning instance_id`;

/** Renews the tickets of a waiting holder; answers how many remain: those of a silent holder may have been removed. */
export const renewTickets = async (transaction: Transaction, { ticketId, leaseMs }: Ticket): Promise<number> =>
  (await query<{ instance_id: string }>(transaction, RENEW_TICKETS, { ticket: ticketId, lease: leaseMs / 1_000 }))
    .length;

const RETURN = /* sql */ `
  delete from context_tickets
  where ticket_id = cast(:ticket as uuid) and (cast(:all as boolean) or instance_id = any (cast(:ids as text[])))`;

/** Leaves the queues of these instances, or all of them. Idempotent. */
export const returnTickets = async (
  transaction: Transaction,
  ticketId: string,
  instanceIds?: readonly string[],
): Promise<void> => {
  if (!isUuid(ticketId)) return;
  await query(transaction, RETURN, { ticket: ticketId, all: instanceIds === undefined, ids: instanceIds ?? [] });
};

const READY = /* sql */ `
  select array(
    select t.instance_id from context_tickets t
    left join context_instances i on i.context_id = t.context_id and i.instance_id = t.instance_id
    where t.ticket_id = cast(:ticket as uuid) and i.operation_id is null and not exists (
      select from context_tickets before
      where before.context_id = t.context_id and before.instance_id = t.instance_id and before.sequence < t.sequence
        and before.lease_until > clock_timestamp()
    )
    order by t.instance_id
  ) as turns
  from contexts where id = cast(:context as uuid)`;

/** Free instances of a context for which this ticket is the first in the queue; undefined if the context no longer exists. */
export const findTurns = async (
  transaction: Transaction,
  contextId: string,
  ticketId: string,
): Promise<readonly string[] | undefined> => {
  const [row] = await query<{ turns: readonly string[] }>(transaction, READY, { context: contextId, ticket: ticketId });
  return row?.turns;
};
