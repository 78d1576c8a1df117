import { query, type Transaction } from '../connection/query';

/** A waiter for instances of a context: the operation whose flow requests them. */
interface WaitingOperation {
  /** A UUID. */
  readonly operationId: string;
  readonly contextId: string;
  readonly instanceIds: readonly string[];
}

/** An instance awaited by an operation that, directly or through others, waits for itself. */
interface WaitingCircle {
  readonly instanceId: string;
  /** Whether the operation belongs to the youngest one in the circle, which gives way (decision 41). */
  readonly givesWay: boolean;
}

/**
 * An operation waits for its child operations, and for the holders of instances that others await on its behalf. `reached` are the
 * operations that the given one waits for, `reaching` those that wait for it; an operation in both is in a circle with it.
 */
const FIND = /* sql */ `
  with recursive reached (operation_id) as (
    select i.operation_id from context_instances i
    where i.context_id = cast(:context as uuid) and i.instance_id = any (cast(:ids as text[])) and i.operation_id is not null
    union
    select next.operation_id from reached r cross join lateral (
      select o.operation_id from context_operations o where o.parent_id = r.operation_id
      union all
      select i.operation_id from context_tickets t
      join context_instances i on i.context_id = t.context_id and i.instance_id = t.instance_id
      where t.for_operation = r.operation_id and t.lease_until > clock_timestamp() and i.operation_id is not null
    ) as next
  ), reaching (operation_id) as (
    select cast(:operation as uuid)
    union
    select before.operation_id from reaching r cross join lateral (
      select o.parent_id as operation_id from context_operations o
      where o.operation_id = r.operation_id and o.parent_id is not null
      union all
      select t.for_operation from context_operations o cross join unnest(o.instance_ids) as held (id)
      join context_instances i
        on i.context_id = o.context_id and i.instance_id = held.id and i.operation_id = o.operation_id
      join context_tickets t
        on t.context_id = i.context_id and t.instance_id = i.instance_id and t.lease_until > clock_timestamp()
      where o.operation_id = r.operation_id and t.for_operation is not null
    ) as before
  ), circle as (
    select o.operation_id, coalesce(o.root_id, o.operation_id) as root_id, o.root_began_at
    from context_operations o
    where o.operation_id in (select operation_id from reached) and o.operation_id in (select operation_id from reaching)
  )
  select i.instance_id,
    (select c.root_id from circle c order by c.root_began_at desc, c.root_id desc limit 1)
      = (select c.root_id from circle c where c.operation_id = cast(:operation as uuid)) as gives_way
  from context_instances i
  where i.context_id = cast(:context as uuid) and i.instance_id = any (cast(:ids as text[]))
    and i.operation_id in (select operation_id from circle)
  order by i.instance_id limit 1`;

/**
 * Detects whether an operation waits for itself; undefined if it does not. The youngest is the one whose root operation, the one that no
 * flow started, was admitted last by the clock of the database; at the same time, the one with the greater id.
 */
export const findWaitingCircle = async (
  transaction: Transaction,
  { operationId, contextId, instanceIds }: WaitingOperation,
): Promise<WaitingCircle | undefined> => {
  const [row] = await query<{ instance_id: string; gives_way: boolean | null }>(transaction, FIND, {
    ...{ operation: operationId, context: contextId, ids: instanceIds },
  });
  return row && { instanceId: row.instance_id, givesWay: row.gives_way === true };
};
