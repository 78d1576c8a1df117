import { type Migration } from './migration';

/**
 * Objects, the values that they generate, references between values, and synchronised collections.
 *
 * A value with an `object_id` is managed: only its object changes it. `managed_path` and `managed_member` (JSON text; empty for the
 * collection of a field) are its identity within the object. Both outlive the object on values that were archived with it, so that an
 * object of the same fields takes them up again; a change by hand forgets them.
 *
 * `refers_to` are the values to which a list refers.
 *
 * A synchronisation remembers the names that its chunks brought until it is complete, when everything else of the collection is swept.
 */
export const objects: Migration = {
  name: '0005-objects',
  sql: /* sql */ `
create table workspace_objects (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null default app_workspace_id() references workspaces (id) on delete cascade,
  stable_id uuid not null default gen_random_uuid(),
  name text not null check (length(name) between 1 and 200),
  content text not null,
  content_type text not null check (content_type in ('json_schema', 'json_object')),
  parsed_fields json not null,
  user_groups text[] not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp(),
  updated_by text default app_actor(),
  unique (workspace_id, id),
  unique (workspace_id, stable_id),
  constraint workspace_objects_name_key unique (workspace_id, name)
);
create index workspace_objects_newest_first on workspace_objects (workspace_id, created_at desc, id desc);
create trigger workspace_objects_user_groups before insert or update of user_groups on workspace_objects
  for each row execute function guard_user_groups();
alter table workspace_objects enable row level security, force row level security;
create policy in_workspace on workspace_objects using (workspace_id = app_workspace_id() and app_may_see(user_groups));

alter table workspace_values
  add column object_id uuid,
  add column managed_path text,
  add column managed_member text,
  add column refers_to uuid[] not null default '{}',
  add check ((managed_path is null) = (managed_member is null)),
  add check (object_id is null or managed_path is not null),
  add foreign key (workspace_id, object_id) references workspace_objects (workspace_id, id);
create index workspace_values_by_object on workspace_values (object_id) where object_id is not null;
create index workspace_values_by_reference on workspace_values using gin (refers_to) where refers_to <> '{}';

-- As guard_user_groups, but whoever may change an object gives its values the groups that the object has.
create function guard_value_groups() returns trigger language plpgsql set search_path = '' as $$
declare
  claimed text := nullif(current_setting('app.user_groups', true), '');
begin
  if claimed <> '*' and exists (
    select unnest(new.user_groups)
    except select unnest(old.user_groups)
    except select unnest(cast(claimed as text[]))
    except select unnest(user_groups) from public.workspace_objects where id = new.object_id
  ) then
    raise exception 'a restricted access can assign only its own user groups' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
drop trigger workspace_values_user_groups on workspace_values;
create trigger workspace_values_user_groups before insert or update of user_groups on workspace_values
  for each row execute function guard_value_groups();

create function find_taken_value_names(wanted text[]) returns table (name text)
  language sql stable security definer set search_path = '' as $$
  select name from public.workspace_values where name = any (wanted) and workspace_id = public.app_workspace_id()
$$;
revoke execute on function find_taken_value_names from public;

create function find_referring_values(wanted uuid[]) returns table (id uuid, refers_to uuid[])
  language sql stable security definer set search_path = '' as $$
  select id, refers_to from public.workspace_values
    where refers_to && wanted and refers_to <> '{}' and workspace_id = public.app_workspace_id()
$$;
revoke execute on function find_referring_values from public;

create table value_syncs (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null default app_workspace_id() references workspaces (id) on delete cascade,
  collection text not null,
  sync_id text not null,
  state text not null default 'open' check (state in ('open', 'completed', 'superseded')),
  user_groups text[] not null,
  started_at timestamptz(3) not null default clock_timestamp(),
  changed_at timestamptz(3) not null default clock_timestamp(),
  started_by text default app_actor(),
  constraint value_syncs_key unique (workspace_id, collection, sync_id)
);
create trigger value_syncs_user_groups before insert or update of user_groups on value_syncs
  for each row execute function guard_user_groups();
alter table value_syncs enable row level security, force row level security;
create policy in_workspace on value_syncs using (workspace_id = app_workspace_id() and app_may_see(user_groups));

create table value_sync_members (
  sync uuid not null references value_syncs (id) on delete cascade,
  workspace_id uuid not null default app_workspace_id(),
  name text not null,
  primary key (sync, name)
);
alter table value_sync_members enable row level security, force row level security;
-- Whoever sees the synchronisation sees its members; the inner select is subject to the policy of value_syncs.
create policy in_workspace on value_sync_members using (
  workspace_id = app_workspace_id() and exists (select from value_syncs where value_syncs.id = value_sync_members.sync)
);

grant execute on function find_taken_value_names, find_referring_values to decision_runtime;
grant select, insert, delete on workspace_objects to decision_runtime;
grant update (name, content, content_type, parsed_fields, user_groups, updated_at, updated_by) on workspace_objects
  to decision_runtime;
grant update (object_id, managed_path, managed_member, refers_to) on workspace_values to decision_runtime;
grant select, insert, delete on value_syncs to decision_runtime;
grant update (state, changed_at) on value_syncs to decision_runtime;
grant select, insert, delete on value_sync_members to decision_runtime;
`,
};
