import { type Migration } from './migration';

/**
 * Folders, people, invitations, custom roles, and keys that belong to people and are rotated.
 *
 * The groups of a user are names on the user's row, as they are on everything else that has groups; the table of members that nothing
 * ever used goes. Custom roles are made and changed by accesses
 * without restriction, built-in ones by the owner of the tables. The runtime role never reads a hash of a password or of a link.
 */
export const administration: Migration = {
  name: '0010-administration',
  sql: /* sql */ `
create table folders (
  id uuid not null default gen_random_uuid(),
  workspace_id uuid not null default app_workspace_id() references workspaces (id) on delete cascade,
  name text not null,
  description text,
  type text not null check (type in ('rule', 'flow', 'context')),
  user_groups text[] not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, id),
  constraint folders_name_key unique (workspace_id, type, name)
);
create trigger folders_user_groups before insert or update of user_groups on folders
  for each row execute function guard_user_groups();
alter table folders enable row level security, force row level security;
create policy in_workspace on folders using (workspace_id = app_workspace_id() and app_may_see(user_groups));
grant select, insert, delete on folders to decision_runtime;
grant update (name, description, type, user_groups, updated_at) on folders to decision_runtime;

drop table user_group_members;

alter table users add column user_groups text[] not null default '{}', add column password_hash text;
create index users_newest_first on users (workspace_id, created_at desc, id desc);
create trigger users_user_groups before insert or update of user_groups on users
  for each row execute function guard_user_groups();
drop policy in_workspace on users;
create policy in_workspace on users using (workspace_id = app_workspace_id() and app_may_see(user_groups));
grant select (id, workspace_id, email, name, role, user_groups, created_at) on users to decision_runtime;
grant insert, delete on users to decision_runtime;
grant update (name, role, user_groups) on users to decision_runtime;

drop policy in_workspace on user_groups;
create policy in_workspace on user_groups
  using (workspace_id = app_workspace_id() and app_may_see(array[name]));
grant select, insert on user_groups to decision_runtime;

create table invitations (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null default app_workspace_id() references workspaces (id) on delete cascade,
  email text not null,
  role text not null,
  user_groups text[] not null,
  selector text not null unique,
  token_hash bytea not null check (length(token_hash) = 32),
  created_at timestamptz(3) not null default clock_timestamp(),
  created_by text default app_actor(),
  expires_at timestamptz(3) not null,
  foreign key (workspace_id, role) references roles (workspace_id, name)
);
create unique index invitations_by_email on invitations (workspace_id, lower(email));
create trigger invitations_user_groups before insert or update of user_groups on invitations
  for each row execute function guard_user_groups();
alter table invitations enable row level security, force row level security;
create policy in_workspace on invitations using (workspace_id = app_workspace_id() and app_may_see(user_groups));
create policy by_selector on invitations for select to current_user
  using (selector = current_setting('app.invitation_selector', true));
grant select (id, workspace_id, email, role, user_groups, created_at, created_by, expires_at) on invitations to decision_runtime;
grant insert, delete on invitations to decision_runtime;

create function find_invitation(wanted text)
  returns table (
    id uuid, workspace_id uuid, workspace_name text, email text, role text, token_hash bytea, expires_at timestamptz
  )
  language plpgsql security definer set search_path = '' as $$
begin
  perform set_config('app.invitation_selector', wanted, true);
  return query
    select i.id, i.workspace_id, w.name, i.email, i.role, i.token_hash, i.expires_at
    from public.invitations i
    join public.workspaces w on w.id = i.workspace_id
    where i.selector = wanted;
end $$;
revoke execute on function find_invitation from public;
grant execute on function find_invitation to decision_runtime;

drop policy in_workspace on roles;
create policy of_owner on roles to current_user using (workspace_id = app_workspace_id());
create policy read_all on roles for select to decision_runtime using (workspace_id = app_workspace_id());
create policy make_custom on roles for insert to decision_runtime
  with check (workspace_id = app_workspace_id() and not built_in and app_may_see('{}'));
create policy change_custom on roles for update to decision_runtime using (workspace_id = app_workspace_id() and not built_in and app_may_see('{}'));
create policy delete_custom on roles for delete to decision_runtime using (workspace_id = app_workspace_id() and not built_in and app_may_see('{}'));
grant insert, delete, update (entitlements) on roles to decision_runtime;
alter table roles alter column workspace_id set default app_workspace_id();

alter table api_keys
  add column user_id uuid,
  add column rotated_from uuid,
  add foreign key (workspace_id, user_id) references users (workspace_id, id) on delete set null (user_id);
create unique index api_keys_one_successor on api_keys (rotated_from) where rotated_from is not null;
create index api_keys_by_user on api_keys (user_id) where user_id is not null;
create index api_keys_by_role on api_keys (workspace_id, role);
grant select (user_id, rotated_from) on api_keys to decision_runtime;
grant update (expires_at) on api_keys to decision_runtime;

-- How many live holders a role has, also such that the caller does not see. Where there are none its dead keys become viewers, so that
-- the role can be deleted.
create function release_role(wanted text) returns integer
  language plpgsql security definer set search_path = '' as $$
declare
  holders integer;
begin
  select cast(
    (select count(*) from public.api_keys where role = wanted and workspace_id = public.app_workspace_id() and revoked_at is null) +
    (select count(*) from public.users where role = wanted and workspace_id = public.app_workspace_id()) +
    (select count(*) from public.invitations where role = wanted and workspace_id = public.app_workspace_id())
    as integer) into holders;
  if holders = 0 then
    update public.api_keys set role = 'viewer' where role = wanted and workspace_id = public.app_workspace_id();
  end if;
  return holders;
end $$;
revoke execute on function release_role from public;
grant execute on function release_role to decision_runtime;

-- The live keys of a user get the role and the groups that the user has; the runtime role gives a key no others.
create function follow_user(wanted uuid) returns table (selector text)
  language sql security definer set search_path = '' as $$
  update public.api_keys set role = users.role, user_groups = users.user_groups
    from public.users
    where users.id = wanted and api_keys.user_id = wanted and api_keys.revoked_at is null
      and users.workspace_id = public.app_workspace_id() and api_keys.workspace_id = public.app_workspace_id()
    returning api_keys.selector
$$;
revoke execute on function follow_user from public;
grant execute on function follow_user to decision_runtime;

-- The public parts of the live keys of a role, also of those that the caller does not see: their cached rights become stale.
create function find_role_selectors(wanted text) returns table (selector text)
  language sql stable security definer set search_path = '' as $$
  select selector from public.api_keys
    where role = wanted and workspace_id = public.app_workspace_id() and revoked_at is null
$$;
revoke execute on function find_role_selectors from public;
grant execute on function find_role_selectors to decision_runtime;

create policy of_owner on api_keys for select to current_user using (workspace_id = app_workspace_id());
create policy of_owner on users for select to current_user using (workspace_id = app_workspace_id());
create policy of_owner on invitations for select to current_user using (workspace_id = app_workspace_id());
`,
};
