import { query, type Transaction } from '../connection/query';
import { alive, type InstanceState, stateColumns, type StateRow, toInstanceState } from './instance-record';
import { markUntold } from './untold';

/** An instance whose row this transaction holds. */
export interface LockedInstance extends InstanceState {
  /** Whether nobody has written it yet, or it has expired; then it is empty. */
  readonly isNew: boolean;
  /** Whether an operation holds it. */
  readonly isBusy: boolean;
  /** Whether an earlier operation waits for it. */
  readonly isQueued: boolean;
}

interface InstancesToLock {
  readonly contextId: string;
  /** Distinct. */
  readonly instanceIds: readonly string[];
  /** Whether rows are made for those that do not exist. */
  readonly create: boolean;
  /** Tickets that the caller holds: only those before them count as waiting. */
  readonly ticketId?: string | undefined;
}

const CREATE = /* sql */ `
  insert into context_instances (context_id, instance_id)
  select cast(:context as uuid), id from unnest(cast(:ids as text[])) as id order by id collate "C"
  on conflict do nothing`;

const LOCK = /* sql */ `
  select ${stateColumns}, i.operation_id is not null as busy, not ${alive} as expired,
    exists (
      select from context_tickets t
      where t.context_id = i.context_id and t.instance_id = i.instance_id and t.lease_until > clock_timestamp()
        and t.sequence < coalesce((
          select own.sequence from context_tickets own
          where own.context_id = i.context_id and own.instance_id = i.instance_id and own.ticket_id = cast(:ticket as uuid)
        ), 9223372036854775807)
    ) as queued
  from context_instances i
  where i.context_id = cast(:context as uuid) and i.instance_id = any (cast(:ids as text[]))
  order by i.instance_id
  for update of i`;

const FORGET = [
  ...['context_history', 'context_registrations'].map(
    (table) =>
      /* sql */ `delete from ${table} where context_id = cast(:context as uuid) and instance_id = any (cast(:ids as text[]))`,
  ),
  // Those that it named are still to be told.
  /* sql */ `
  update context_links set former = true
  where context_id = cast(:context as uuid) and instance_id = any (cast(:ids as text[])) and not former`,
];
const IS_READ = /* sql */ `select context_is_read(cast(:context as uuid)) as is_read`;

/** How long a submission of an expired instance has to tell the readers of the former one, ms: as long as requests may run. */
const TELL_LEASE_MS = 300_000;

interface LockedRow extends StateRow {
  readonly busy: boolean;
  readonly expired: boolean;
  readonly queued: boolean;
}

/**
 * Takes the rows of instances, in the order of their ids, so that no two transactions wait for each other. What has expired and is free comes
 * back empty; nothing of the old is left but what says who read it (C106).
 */
export const lockInstances = async (
  transaction: Transaction,
  { contextId, instanceIds, create, ticketId }: InstancesToLock,
): Promise<readonly LockedInstance[]> => {
  const bindings = { context: contextId, ids: instanceIds };
  const lock = () => query<LockedRow>(transaction, LOCK, { ...bindings, ticket: ticketId ?? null });
  // One row alone cannot be taken out of order: mostly it is there already, and nothing has to be created.
  let rows = instanceIds.length === 1 || !create ? await lock() : [];
  if (create && rows.length === 0) {
    await query(transaction, CREATE, bindings);
    rows = await lock();
  }
  const gone = rows.filter(({ busy, expired }) => expired && !busy).map(({ instance_id }) => instance_id);
  if (gone.length > 0) await forget(transaction, contextId, gone);
  return rows.filter(({ version, busy, expired }) => create || busy || !(expired || version === '0')).map(toLocked);
};

const forget = async (transaction: Transaction, contextId: string, ids: readonly string[]): Promise<void> => {
  for (const sql of FORGET) await query(transaction, sql, { context: contextId, ids });
  const [row] = await query<{ is_read: boolean }>(transaction, IS_READ, { context: contextId });
  if (row?.is_read === true) await markUntold(transaction, contextId, ids, TELL_LEASE_MS);
};

const toLocked = (row: LockedRow): LockedInstance => {
  const { busy: isBusy, queued: isQueued, expired, version } = row;
  const flags = { isBusy, isQueued };
  const state = toInstanceState(row);
  if (!expired || isBusy) return { ...state, ...flags, isNew: version === '0' };
  const nothing = { facts: {}, derived: {}, executions: {}, readerPass: undefined };
  return { ...state, ...flags, ...nothing, isNew: true };
};
