import { type Migration } from './migration';

/**
 * A deleted context is hidden at once and its data is removed afterwards, step by step.
 *
 * `deleted_at` hides the row by its policy, so from processes that do not know the column too. The slug becomes the id, a form that no slug has, so
 * that the former slug is free. `context_removals` says how far the removal has come; the row of the context goes last and takes this one with it.
 *
 * What a step deletes is bounded by rows and by bytes as they are stored. Steps go through the rows in order and remember where they stopped: a step
 * that began at the front would pass over everything that was deleted before and not yet vacuumed.
 */
export const contextRemovals: Migration = {
  name: '0019-context-removals',
  sql: /* sql */ `
alter table contexts add column deleted_at timestamptz(3);
alter policy in_workspace on contexts
  using (workspace_id = app_workspace_id() and app_may_see(user_groups) and deleted_at is null);
create policy of_owner on contexts to current_user using (true);
create policy of_owner on context_history to current_user using (true);
create policy of_owner on context_links to current_user using (true);
create policy of_owner on context_registrations to current_user using (true);

create table context_removals (
  context_id uuid primary key,
  workspace_id uuid not null default app_workspace_id(),
  -- Of the context before it was deleted.
  slug text not null,
  deleted_by text default app_actor(),
  deleted_at timestamptz(3) not null default clock_timestamp(),
  -- What is being removed, and the last instance of which something was.
  stage text not null default 'history' check (stage in ('history', 'links', 'registrations', 'instances', 'context')),
  after text collate "C" not null default '',
  -- Rows that have been removed.
  history bigint not null default 0,
  links bigint not null default 0,
  instances bigint not null default 0,
  stepped_at timestamptz(3) not null default clock_timestamp(),
  foreign key (workspace_id, context_id) references contexts (workspace_id, id) on delete cascade
);
create index context_removals_next on context_removals (stepped_at);
alter table context_removals enable row level security, force row level security;
create policy in_workspace on context_removals for select using (workspace_id = app_workspace_id() and app_is_unrestricted());
create policy of_owner on context_removals to current_user using (true);
grant select on context_removals to decision_runtime;

-- Hides a context that the access sees, frees its slug, and ends its relationships. Answers false where the access sees no such context.
create function hide_context(context uuid) returns boolean
  language plpgsql security definer set search_path = '' as $$
declare
  found_slug text;
begin
  select c.slug into found_slug from public.contexts c
  where c.id = context and c.workspace_id = public.app_workspace_id() and public.app_may_see(c.user_groups) and c.deleted_at is null
  for update;
  if not found then return false; end if;
  delete from public.context_relationships r where context in (r.from_context_id, r.to_context_id);
  delete from public.context_foreign_keys k where k.context_id = context;
  insert into public.context_removals (context_id, slug) values (context, found_slug);
  update public.contexts c set slug = cast(context as text), folder_id = null, deleted_at = clock_timestamp() where c.id = context;
  return true;
end $$;
revoke execute on function hide_context from public;

-- Takes one step of the removal that was left alone longest and that nobody else works on; answers no row where there is none, else what is gone of the
-- context altogether, and how many rows this step removed.
create function remove_context_step(most integer, most_bytes bigint)
  returns table (context_id uuid, slug text, history bigint, links bigint, instances bigint, removed bigint, done boolean)
  language plpgsql security definer set search_path = '' as $$
#variable_conflict use_column
declare
  removal public.context_removals;
  rows_removed bigint;
  last text;
begin
  select r.* into removal from public.context_removals r
  -- Whoever waits in a line finds its ticket, and then that the context is gone: the row goes after the last of them.
  where r.stage <> 'context' or not exists (
    select from public.context_tickets t where t.context_id = r.context_id and t.lease_until > clock_timestamp()
  )
  order by r.stepped_at limit 1 for update skip locked;
  if not found then return; end if;

  if removal.stage = 'context' then
    delete from public.contexts c where c.id = removal.context_id;
    return query select removal.context_id, removal.slug, removal.history, removal.links, removal.instances, cast(0 as bigint), true;
    return;
  end if;

  execute format(
    $step$
      with measured as (
        select t.instance_id, t.ctid as place, cast(%2$s as bigint) as bytes from public.%1$I t
        where t.context_id = $1 and t.instance_id >= $2 order by t.instance_id limit $3
      ), next as (
        select m.instance_id, m.place from (
          select m.*, sum(m.bytes) over (order by m.instance_id, m.place rows unbounded preceding) - m.bytes as bytes_before from measured m
        ) m
        where m.bytes_before < $4
      ), gone as (
        delete from public.%1$I d where d.ctid = any (array(select n.place from next n)) returning 1
      )
      select (select count(*) from gone), (select max(n.instance_id) from next n)
    $step$,
    'context_' || removal.stage,
    case removal.stage
      when 'history' then 'pg_column_size(t.value)'
      when 'instances' then 'pg_column_size(t.facts) + pg_column_size(t.derived) + pg_column_size(t.executions)'
      else '0'
    end
  ) into rows_removed, last using removal.context_id, removal.after, most, most_bytes;

  update public.context_removals r set
    stage = case
      when last is not null then r.stage
      when r.stage = 'history' then 'links' when r.stage = 'links' then 'registrations'
      when r.stage = 'registrations' then 'instances' else 'context'
    end,
    after = coalesce(last, ''),
    history = r.history + case r.stage when 'history' then rows_removed else 0 end,
    links = r.links + case r.stage when 'links' then rows_removed else 0 end,
    instances = r.instances + case r.stage when 'instances' then rows_removed else 0 end,
    stepped_at = clock_timestamp()
  where r.context_id = removal.context_id
  returning r.* into removal;
  return query select removal.context_id, removal.slug, removal.history, removal.links, removal.instances, rows_removed, false;
end $$;
revoke execute on function remove_context_step from public;

-- Takes one step through the instances that have expired and are free, the longest gone first: their history, and then those of them of which no
-- history is left. Answers how much of both it deleted.
create function sweep_expired_step(most integer, most_history integer, most_bytes bigint, out instances bigint, out history bigint)
  language plpgsql security definer set search_path = '' as $$
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
        select h.ctid as place, cast(pg_column_size(h.value) as bigint) as bytes
        from unnest(contexts, ids) as w (context_id, instance_id)
        join public.context_history h on h.context_id = w.context_id and h.instance_id = w.instance_id
        limit most_history
      ) m
    ) b
    where b.bytes_before < most_bytes
  ));
  get diagnostics history = row_count;

  delete from public.context_instances i using unnest(contexts, ids) as w (context_id, instance_id)
  where i.context_id = w.context_id and i.instance_id = w.instance_id and not exists (
    select from public.context_history h where h.context_id = i.context_id and h.instance_id = i.instance_id
  );
  get diagnostics instances = row_count;
end $$;
revoke execute on function sweep_expired_step from public;
grant execute on function hide_context, remove_context_step, sweep_expired_step to decision_runtime;
`,
};
