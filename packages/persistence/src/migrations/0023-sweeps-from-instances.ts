import { type Migration } from './migration';

/**
 * A step of the sweep looks up the history of the instances that it takes, whatever the planner believes: a join in either direction let it read the
 * whole history where the statistics were those of an emptied table. Subqueries with `offset 0` are planned for themselves, instance by instance.
 */
export const sweepsFromInstances: Migration = {
  name: '0023-sweeps-from-instances',
  sql: /* sql */ `
create or replace function sweep_expired_step(
  most integer, most_history integer, most_bytes bigint, out instances bigint, out history bigint
)
  language plpgsql security definer set search_path = '' set enable_bitmapscan = off set enable_seqscan = off as $$
declare
  contexts uuid[];
  ids text[];
begin
  select array_agg(b.context_id), array_agg(b.instance_id) into contexts, ids from (
    select l.context_id, l.instance_id, sum(l.bytes) over next - l.bytes as bytes_before from (
      select e.context_id, e.instance_id, e.expires_at,
        cast(pg_column_size(e.facts) + pg_column_size(e.derived) + pg_column_size(e.executions) as bigint) as bytes
      from public.context_instances e
      where e.expires_at <= clock_timestamp() and e.operation_id is null
      order by e.expires_at limit most for update skip locked
    ) l
    window next as (order by l.expires_at, l.context_id, l.instance_id rows unbounded preceding)
  ) b
  where b.bytes_before < most_bytes;

  delete from public.context_history d where d.ctid = any (array(
    select b.place from (
      select m.place, sum(m.bytes) over (order by m.place rows unbounded preceding) - m.bytes as bytes_before from (
        select entries.place, entries.bytes
        from unnest(contexts, ids) as taken (context_id, instance_id)
        cross join lateral (
          select h.ctid as place, cast(pg_column_size(h.value) as bigint) as bytes from public.context_history h
          where h.context_id = taken.context_id and h.instance_id = taken.instance_id
          offset 0
        ) entries
        limit most_history
      ) m
    ) b
    where b.bytes_before < most_bytes
  ));
  get diagnostics history = row_count;

  -- They are locked since the first statement, so that their places stay.
  delete from public.context_instances i where i.ctid = any (array(
    select bare.place
    from unnest(contexts, ids) as taken (context_id, instance_id)
    cross join lateral (
      select e.ctid as place from public.context_instances e
      where e.context_id = taken.context_id and e.instance_id = taken.instance_id and not exists (
        select from public.context_history h where h.context_id = taken.context_id and h.instance_id = taken.instance_id offset 0
      )
      offset 0
    ) bare
  ));
  get diagnostics instances = row_count;
end $$;
`,
};
