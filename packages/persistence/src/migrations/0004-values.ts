import { type Migration } from './migration';

/**
 * Values of a workspace, to which rules refer by id, and which rules refer to which.
 *
 * `value_revisions` counts the changes of a workspace's values. Its row is locked by the first change of a transaction, so revisions
 * become visible in their order, and whoever has read the values of a revision knows whether they have changed since.
 *
 * Policies and functions "of the owner" see the workspace without regard to groups: a value that a hidden rule uses must not be
 * deleted, and a rule goes on resolving values that the caller may not see.
 */
export const values: Migration = {
  name: '0004-values',
  sql: /* sql */ `
create table workspace_values (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null default app_workspace_id() references workspaces (id) on delete cascade,
  stable_id uuid not null default gen_random_uuid(),
  name text not null check (length(name) between 1 and 512),
  type text not null check (type in ('string', 'number', 'boolean', 'list', 'function')),
  content json not null,
  metadata json not null,
  user_groups text[] not null,
  archived_at timestamptz(3),
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp(),
  updated_by text default app_actor(),
  unique (workspace_id, stable_id),
  constraint workspace_values_name_key unique (workspace_id, name)
);
create index workspace_values_newest_first on workspace_values (workspace_id, created_at desc, id desc);
create index workspace_values_by_prefix on workspace_values (workspace_id, name text_pattern_ops);
create trigger workspace_values_user_groups before insert or update of user_groups on workspace_values
  for each row execute function guard_user_groups();

alter table workspace_values enable row level security, force row level security;
create policy in_workspace on workspace_values using (workspace_id = app_workspace_id() and app_may_see(user_groups));
create policy of_owner on workspace_values for select to current_user using (workspace_id = app_workspace_id());

create table value_revisions (
  workspace_id uuid primary key default app_workspace_id() references workspaces (id) on delete cascade,
  revision bigint not null
);
alter table value_revisions enable row level security, force row level security;
create policy in_workspace on value_revisions using (workspace_id = app_workspace_id());

create function count_value_change() returns trigger language plpgsql as $$
begin
  if app_workspace_id() is not null and exists (select from changed) then
    insert into value_revisions (revision) values (1)
      on conflict (workspace_id) do update set revision = value_revisions.revision + 1;
  end if;
  return null;
end $$;
create trigger workspace_values_inserted after insert on workspace_values
  referencing new table as changed for each statement execute function count_value_change();
create trigger workspace_values_updated after update on workspace_values
  referencing new table as changed for each statement execute function count_value_change();
create trigger workspace_values_deleted after delete on workspace_values
  referencing old table as changed for each statement execute function count_value_change();

alter table rules add column value_ids uuid[] not null default '{}';
create index rules_by_value on rules using gin (value_ids) where value_ids <> '{}';
alter table rule_versions add column value_ids uuid[] not null default '{}';
create index rule_versions_by_value on rule_versions using gin (value_ids) where value_ids <> '{}';
create policy of_owner on rules for select to current_user using (workspace_id = app_workspace_id());

create function find_value_uses(wanted uuid[]) returns table (value_id uuid, rule_id uuid)
  language sql stable security definer set search_path = '' as $$
  select uses.value_id, uses.rule_id
  from (
    select unnest(value_ids) as value_id, id as rule_id from public.rules
      where value_ids && wanted and value_ids <> '{}' and workspace_id = public.app_workspace_id()
    union
    select unnest(value_ids), rule_versions.rule_id from public.rule_versions
      where value_ids && wanted and value_ids <> '{}' and workspace_id = public.app_workspace_id()
  ) as uses
  where uses.value_id = any (wanted)
$$;
revoke execute on function find_value_uses from public;

create function find_bound_values(wanted uuid[]) returns table (id uuid, name text, type text, content json)
  language sql stable security definer set search_path = '' as $$
  select id, name, type, content from public.workspace_values
    where id = any (wanted) and workspace_id = public.app_workspace_id()
$$;
revoke execute on function find_bound_values from public;

grant execute on function find_value_uses, find_bound_values to decision_runtime;
grant select, insert, delete on workspace_values to decision_runtime;
grant update (name, type, content, metadata, user_groups, archived_at, updated_at, updated_by) on workspace_values
  to decision_runtime;
grant select, insert, update (revision) on value_revisions to decision_runtime;
grant update (value_ids) on rules to decision_runtime;
`,
};
