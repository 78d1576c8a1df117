import { type Migration } from './migration';

/**
 * Which facts name instances of other contexts, and how far their links are made; docs/specs/contexts.md says when which state is reached.
 *
 * `hold_context` and `change_context` are the two sides of one lock for each context: whoever writes instances holds it together with others, whoever
 * changes what decides how instances are written takes it alone.
 *
 * The links of relationships that are there already are made once more: they may lack instances that were written while the relationship was made.
 */
export const contextForeignKeys: Migration = {
  name: '0014-context-foreign-keys',
  sql: /* sql */ `
create table context_foreign_keys (
  workspace_id uuid not null default app_workspace_id(),
  context_id uuid not null,
  fact text collate "C" not null,
  state text not null check (state in ('building', 'ready', 'dropping')),
  -- The last instance whose links were made; empty where none were.
  after text collate "C" not null default '',
  updated_at timestamptz(3) not null default clock_timestamp(),
  primary key (context_id, fact),
  foreign key (workspace_id, context_id) references contexts (workspace_id, id) on delete cascade
);
alter table context_foreign_keys enable row level security, force row level security;
create policy in_workspace on context_foreign_keys using (workspace_id = app_workspace_id() and app_sees_context(context_id));
create policy of_owner on context_foreign_keys to current_user using (true);
grant select, insert, delete, update (state, after, updated_at) on context_foreign_keys to decision_runtime;

create policy of_owner on context_relationships to current_user using (true);
insert into context_foreign_keys (workspace_id, context_id, fact, state)
select distinct workspace_id, case relation_type when 'belongs_to' then from_context_id else to_context_id end, foreign_key_fact, 'building'
from context_relationships;

-- A relationship is never without its foreign key, whoever makes it; a foreign key that no relationship needs loses its links.
create function follow_foreign_key() returns trigger language plpgsql security definer set search_path = '' as $$
declare
  changed public.context_relationships := case tg_op when 'INSERT' then new else old end;
  holder uuid := case changed.relation_type when 'belongs_to' then changed.from_context_id else changed.to_context_id end;
begin
  if tg_op = 'INSERT' then
    insert into public.context_foreign_keys as k (workspace_id, context_id, fact, state)
    values (changed.workspace_id, holder, changed.foreign_key_fact, 'building')
    on conflict (context_id, fact) do update set
      state = case k.state when 'dropping' then 'building' else k.state end,
      after = case k.state when 'dropping' then '' else k.after end,
      updated_at = clock_timestamp();
  elsif not exists (
    select from public.context_relationships r
    where r.foreign_key_fact = changed.foreign_key_fact
      and case r.relation_type when 'belongs_to' then r.from_context_id else r.to_context_id end = holder
  ) then
    update public.context_foreign_keys set state = 'dropping', after = '', updated_at = clock_timestamp()
    where context_id = holder and fact = changed.foreign_key_fact;
  end if;
  return null;
end $$;
revoke execute on function follow_foreign_key from public;
create trigger context_relationships_foreign_key after insert or delete on context_relationships
  for each row execute function follow_foreign_key();

create function context_lock(context uuid) returns bigint language sql immutable parallel safe
  return hashtextextended('context ' || context::text, 0);

-- Answers the revision of the definitions, which holds for this context until the transaction ends; null where the context is not visible. The second
-- statement sees what was committed while the first one waited.
create function hold_context(context uuid) returns bigint language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(context_lock(context));
  return (select coalesce((select revision from context_worlds), 0) from contexts where contexts.id = context);
end $$;

create function change_context(context uuid) returns void language sql
  begin atomic
    select pg_advisory_xact_lock(context_lock(context));
  end;

-- Foreign keys of all workspaces with work to do; those that were registered for a relationship that never came are given up after an hour.
create function find_unfinished_foreign_keys(most integer) returns table (workspace_id uuid, context_id uuid, fact text)
  language sql security definer set search_path = '' as $$
  update public.context_foreign_keys k set state = 'dropping', after = '', updated_at = clock_timestamp()
  where k.state = 'ready' and k.updated_at < clock_timestamp() - interval '1 hour' and not exists (
    select from public.context_relationships r
    where r.foreign_key_fact = k.fact
      and k.context_id = case r.relation_type when 'belongs_to' then r.from_context_id else r.to_context_id end
  );
  select k.workspace_id, k.context_id, k.fact from public.context_foreign_keys k
  where k.state <> 'ready' order by k.updated_at limit most
$$;
revoke execute on function find_unfinished_foreign_keys from public;
grant execute on function find_unfinished_foreign_keys to decision_runtime;
`,
};
