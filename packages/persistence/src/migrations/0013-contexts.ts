import { type Migration } from './migration';

/**
 * Contexts, relationships, and what is known of their instances; docs/specs/contexts.md says what the columns of the admission mean.
 *
 * Whoever sees a context sees what belongs to it. An instance's facts, derived facts and executions together are held below 64 MiB by the table
 * itself. History lies apart from the state, so that reading and writing an instance costs the same however long its history is.
 *
 * `context_worlds` counts the changes of the definitions of a workspace. Whoever changes one holds its row: definitions are checked against
 * each other one after the other.
 */
export const contexts: Migration = {
  name: '0013-contexts',
  sql: /* sql */ `
create table context_worlds (
  workspace_id uuid primary key default app_workspace_id() references workspaces (id) on delete cascade,
  revision bigint not null default 1
);
alter table context_worlds enable row level security, force row level security;
create policy in_workspace on context_worlds using (workspace_id = app_workspace_id());
grant select, insert, update (revision) on context_worlds to decision_runtime;

create table contexts (
  id uuid primary key,
  workspace_id uuid not null default app_workspace_id() references workspaces (id) on delete cascade,
  slug text not null,
  name text not null,
  description text,
  schema json not null,
  identity_fact text not null,
  auto_execute_decisions boolean not null,
  ttl_seconds integer,
  history_limit integer not null,
  on_schema_mismatch text not null check (on_schema_mismatch in ('ignore', 'reject', 'store')),
  source_objects text[] not null,
  user_groups text[] not null,
  folder_id uuid,
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp(),
  updated_by text default app_actor(),
  unique (workspace_id, id),
  constraint contexts_slug_key unique (workspace_id, slug),
  foreign key (workspace_id, folder_id) references folders (workspace_id, id) on delete set null (folder_id)
);
create index contexts_newest_first on contexts (workspace_id, created_at desc, id desc);
create trigger contexts_user_groups before insert or update of user_groups on contexts
  for each row execute function guard_user_groups();
alter table contexts enable row level security, force row level security;
create policy in_workspace on contexts using (workspace_id = app_workspace_id() and app_may_see(user_groups));
grant select, insert, delete on contexts to decision_runtime;
grant update (
  name, description, schema, identity_fact, auto_execute_decisions, ttl_seconds, history_limit, on_schema_mismatch, source_objects,
  user_groups, folder_id, updated_at, updated_by
) on contexts to decision_runtime;

create function app_sees_context_by_groups(context uuid) returns boolean language sql stable parallel safe
  return exists (select from contexts where contexts.id = context);

-- An access without restriction is spared the look at the context of every row. Two functions, since one with a query in it would be called for
-- every row, while this one becomes part of the statement: half of what writing an instance costs.
create function app_sees_context(context uuid) returns boolean language sql stable parallel safe
  return current_setting('app.user_groups', true) = '*' or app_sees_context_by_groups(context);

create table context_relationships (
  id uuid primary key,
  workspace_id uuid not null default app_workspace_id(),
  from_context_id uuid not null,
  to_context_id uuid not null,
  name text not null,
  relation_type text not null check (relation_type in ('has_many', 'has_one', 'belongs_to')),
  foreign_key_fact text not null,
  description text,
  created_at timestamptz(3) not null default clock_timestamp(),
  unique (workspace_id, id),
  constraint context_relationships_name_key unique (from_context_id, name),
  foreign key (workspace_id, from_context_id) references contexts (workspace_id, id) on delete cascade,
  foreign key (workspace_id, to_context_id) references contexts (workspace_id, id) on delete cascade
);
create index context_relationships_incoming on context_relationships (to_context_id);
alter table context_relationships enable row level security, force row level security;
create policy in_workspace on context_relationships using (
  workspace_id = app_workspace_id() and app_sees_context(from_context_id) and app_sees_context(to_context_id)
);
grant select, insert, delete on context_relationships to decision_runtime;

create table context_instances (
  workspace_id uuid not null default app_workspace_id(),
  context_id uuid not null,
  instance_id text collate "C" not null,
  facts jsonb not null default '{}',
  derived jsonb not null default '{}',
  executions jsonb not null default '{}',
  -- Counts the writes.
  version bigint not null default 0,
  -- The operation that alone may write the row; null where it is free.
  operation_id uuid,
  -- Grows with each admission and take-over; a write-back names the one it was admitted with.
  fence bigint not null default 0,
  -- How far the readers of this instance have been told of its facts.
  reader_pass jsonb,
  expires_at timestamptz(3),
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp(),
  primary key (context_id, instance_id),
  foreign key (workspace_id, context_id) references contexts (workspace_id, id) on delete cascade,
  constraint context_instances_size
    check (octet_length(facts::text) + octet_length(derived::text) + octet_length(executions::text) <= 67108864)
) with (fillfactor = 85);
create index context_instances_expiring on context_instances (expires_at) where expires_at is not null;
alter table context_instances enable row level security, force row level security;
create policy in_workspace on context_instances using (workspace_id = app_workspace_id() and app_sees_context(context_id));
create policy of_owner on context_instances to current_user using (true);
grant select, insert, delete on context_instances to decision_runtime;
grant update (
  facts, derived, executions, version, operation_id, fence, reader_pass, expires_at, created_at, updated_at
) on context_instances to decision_runtime;

-- Operations that hold instances. Leases stand here and not on the instances: no index of theirs changes with an admission, so that the database
-- writes them in place, and a renewal is one row.
create table context_operations (
  operation_id uuid primary key,
  workspace_id uuid not null default app_workspace_id(),
  context_id uuid not null,
  -- Those that it was admitted to.
  instance_ids text[] not null,
  lease_until timestamptz(3) not null,
  -- How often somebody took it over whose owner had been silent.
  takeovers integer not null default 0,
  foreign key (workspace_id, context_id) references contexts (workspace_id, id) on delete cascade
);
create index context_operations_leased on context_operations (lease_until);
alter table context_operations enable row level security, force row level security;
create policy in_workspace on context_operations using (workspace_id = app_workspace_id() and app_sees_context(context_id));
create policy of_owner on context_operations to current_user using (true);
grant select, insert, delete, update (instance_ids, lease_until) on context_operations to decision_runtime;

create table context_history (
  workspace_id uuid not null default app_workspace_id(),
  context_id uuid not null,
  instance_id text collate "C" not null,
  fact text collate "C" not null,
  sequence bigint generated always as identity,
  at timestamptz(3) not null,
  value jsonb not null,
  primary key (context_id, instance_id, fact, sequence),
  foreign key (workspace_id, context_id) references contexts (workspace_id, id) on delete cascade,
  foreign key (context_id, instance_id) references context_instances (context_id, instance_id) on delete cascade
);
alter table context_history enable row level security, force row level security;
create policy in_workspace on context_history using (workspace_id = app_workspace_id() and app_sees_context(context_id));
grant select, insert, delete on context_history to decision_runtime;

-- Which instance each foreign key of an instance names, or named until those who read it there have been told.
create table context_links (
  workspace_id uuid not null default app_workspace_id(),
  context_id uuid not null,
  instance_id text collate "C" not null,
  fact text collate "C" not null,
  target_id text collate "C" not null,
  former boolean not null default false,
  primary key (context_id, instance_id, fact, target_id),
  foreign key (workspace_id, context_id) references contexts (workspace_id, id) on delete cascade,
  foreign key (context_id, instance_id) references context_instances (context_id, instance_id) on delete cascade
);
create index context_links_by_target on context_links (context_id, fact, target_id, instance_id);
alter table context_links enable row level security, force row level security;
create policy in_workspace on context_links using (workspace_id = app_workspace_id() and app_sees_context(context_id));
grant select, insert, delete, update (former) on context_links to decision_runtime;

-- Evaluations that somebody asked for before they could be made.
create table context_registrations (
  workspace_id uuid not null default app_workspace_id(),
  context_id uuid not null,
  instance_id text collate "C" not null,
  type text not null check (type in ('rule', 'flow')),
  slug text not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (context_id, instance_id, type, slug),
  foreign key (workspace_id, context_id) references contexts (workspace_id, id) on delete cascade,
  foreign key (context_id, instance_id) references context_instances (context_id, instance_id) on delete cascade
);
alter table context_registrations enable row level security, force row level security;
create policy in_workspace on context_registrations using (workspace_id = app_workspace_id() and app_sees_context(context_id));
grant select, insert, delete on context_registrations to decision_runtime;

-- Who waits for an instance, in order. A ticket whose lease has run out belongs to nobody.
create table context_tickets (
  workspace_id uuid not null default app_workspace_id(),
  context_id uuid not null,
  instance_id text collate "C" not null,
  sequence bigint generated always as identity,
  ticket_id uuid not null,
  lease_until timestamptz(3) not null,
  primary key (context_id, instance_id, sequence),
  foreign key (workspace_id, context_id) references contexts (workspace_id, id) on delete cascade
);
create index context_tickets_of_holder on context_tickets (ticket_id);
alter table context_tickets enable row level security, force row level security;
create policy in_workspace on context_tickets using (workspace_id = app_workspace_id() and app_sees_context(context_id));
create policy of_owner on context_tickets to current_user using (true);
grant select, insert, delete, update (lease_until) on context_tickets to decision_runtime;

-- A column of its own, since row security keeps expressions from using an index.
alter table rules add column context_slug text generated always as (context ->> 'slug') stored;
create index rules_by_context on rules (workspace_id, context_slug) where context_slug is not null;

create function take_over_operations(lease interval, most integer)
  returns table (
    workspace_id uuid, context_id uuid, operation_id uuid, takeovers integer, instance_ids text[], fences bigint[]
  )
  language sql security definer set search_path = '' as $$
  with taken as (
    update public.context_operations o set takeovers = o.takeovers + 1, lease_until = clock_timestamp() + lease
    where o.operation_id in (
      select l.operation_id from public.context_operations l
      where l.lease_until <= clock_timestamp()
      order by l.lease_until limit most for update skip locked
    )
    returning o.*
  ), fenced as (
    update public.context_instances i set fence = i.fence + 1
    from taken t, unnest(t.instance_ids) as held (id)
    where i.context_id = t.context_id and i.instance_id = held.id and i.operation_id = t.operation_id
    returning i.operation_id, i.instance_id, i.fence
  )
  select t.workspace_id, t.context_id, t.operation_id, t.takeovers,
    coalesce((select array_agg(f.instance_id order by f.instance_id) from fenced f where f.operation_id = t.operation_id), '{}'),
    coalesce((select array_agg(f.fence order by f.instance_id) from fenced f where f.operation_id = t.operation_id), '{}')
  from taken t
$$;
revoke execute on function take_over_operations from public;

create function sweep_expired_instances(most integer) returns table (workspace_id uuid, context_id uuid, instance_id text)
  language sql security definer set search_path = '' as $$
  delete from public.context_instances i
  where (i.context_id, i.instance_id) in (
    select e.context_id, e.instance_id from public.context_instances e
    where e.expires_at <= clock_timestamp() and e.operation_id is null
    order by e.expires_at limit most for update skip locked
  )
  returning i.workspace_id, i.context_id, i.instance_id
$$;
revoke execute on function sweep_expired_instances from public;

create function forget_stale_tickets(most integer) returns bigint
  language sql security definer set search_path = '' as $$
  with stale as (
    delete from public.context_tickets t
    where (t.context_id, t.instance_id, t.sequence) in (
      select s.context_id, s.instance_id, s.sequence from public.context_tickets s
      where s.lease_until <= clock_timestamp() limit most for update skip locked
    )
    returning 1
  )
  select count(*) from stale
$$;
revoke execute on function forget_stale_tickets from public;
grant execute on function take_over_operations, sweep_expired_instances, forget_stale_tickets to decision_runtime;
`,
};
