import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';

/** A place in the lines of some instances, held by one request. */
interface Ticket {
  /** A UUID. */
  readonly ticketId: string;
  /** How long it counts without being renewed, ms. */
  readonly leaseMs: number;
}

const LONGEST = /* sql */ `
  select count(*) as waiting from context_tickets
  where context_id = cast(:context as uuid) and instance_id = any (cast(:ids as text[])) and lease_until > clock_timestamp()
  group by instance_id order by count(*) desc limit 1`;

const TAKE = /* sql */ `
  insert into context_tickets (context_id, instance_id, ticket_id, lease_until)
  select cast(:context as uuid), id, cast(:ticket as uuid), clock_timestamp() + make_interval(secs => cast(:lease as double precision))
  from unnest(cast(:ids as text[])) as id order by id collate "C"`;

/** Takes a place behind everybody who waits for these instances; false where a line is `most` long already (C144). */
export const takeTickets = async (
  transaction: Transaction,
  contextId: string,
  instanceIds: readonly string[],
  { ticketId, leaseMs, most }: Ticket & { readonly most: number },
): Promise<boolean> => {
  const bindings = { context: contextId, ids: instanceIds };
  const [longest] = await query<{ waiting: string }>(transaction, LONGEST, bindings);
  if (Number(longest?.waiting ?? 0) >= most) return false;
  await query(transaction, TAKE, { ...bindings, ticket: ticketId, lease: leaseMs / 1_000 });
  return true;
};

const RENEW = /* sql */ `
  update context_tickets set lease_until = clock_timestamp() + make_interval(secs => cast(:lease as double precision))
  where ticket_id = cast(:ticket as uuid)
  returning instance_id`;

/** Says that its holder still waits; answers how many places it still has: those of a holder who was silent may be gone. */
export const renewTickets = async (transaction: Transaction, { ticketId, leaseMs }: Ticket): Promise<number> =>
  (await query<{ instance_id: string }>(transaction, RENEW, { ticket: ticketId, lease: leaseMs / 1_000 })).length;

const RETURN = /* sql */ `
  delete from context_tickets
  where ticket_id = cast(:ticket as uuid) and (cast(:all as boolean) or instance_id = any (cast(:ids as text[])))`;

/** Leaves the lines of these instances, or all of them. Idempotent. */
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

/** Instances of a context that are free and whose line the holder of this ticket leads; undefined where the context is gone. */
export const findTurns = async (
  transaction: Transaction,
  contextId: string,
  ticketId: string,
): Promise<readonly string[] | undefined> => {
  const [row] = await query<{ turns: readonly string[] }>(transaction, READY, { context: contextId, ticket: ticketId });
  return row?.turns;
};
