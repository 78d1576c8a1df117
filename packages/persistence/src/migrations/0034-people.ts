import { type Migration } from './migration';

/**
 * People: one administrator in a workspace, whose children all others are; their sessions, and an account of who signed in
 * (docs/adr/0064-people-in-the-database.md).
 *
 * A transaction on behalf of a person claims what the row of that person says: `claim_user` resolves it once, and whoever is unknown or disabled
 * claims nothing. A person without groups sees nothing; only `all_groups` sees everything. A key without groups sees everything, as ever; a key that
 * was made for a person follows the person in this, and has a group of nobody where the person has none.
 */
export const people: Migration = {
  name: '0034-people',
  sql: /* sql */ `
create function app_user_id() returns uuid language sql stable parallel safe
  return cast(nullif(current_setting('app.user_id', true), '') as uuid);

alter table users
  add column parent_id uuid,
  add column is_admin boolean not null default false,
  -- The row waits for the person whose address it has.
  add column is_placeholder boolean not null default false,
  add column all_groups boolean not null default false,
  add column disabled_at timestamptz(3),
  add column user_metadata json not null default '{}' check (length(cast(user_metadata as text)) <= 1000000),
  -- Of the administrator alone.
  add column sso_role_mapping json check (length(cast(sso_role_mapping as text)) <= 1000000),
  add foreign key (workspace_id, parent_id) references users (workspace_id, id) on delete set null (parent_id);
create unique index users_one_admin on users (workspace_id) where is_admin;
create index users_by_parent on users (workspace_id, parent_id) where parent_id is not null;
grant select (parent_id, is_admin, is_placeholder, all_groups, disabled_at, user_metadata, sso_role_mapping) on users to decision_runtime;
grant update (parent_id, is_admin, is_placeholder, all_groups, disabled_at, user_metadata, sso_role_mapping) on users to decision_runtime;
-- A person sees the own row, whatever its groups.
create policy own_row on users for select using (workspace_id = app_workspace_id() and id = (select app_user_id()));
create policy directory on users for select to current_user using (true);

-- Whoever sees everything has no groups, and whoever is given groups does not see everything. The administrator stays one. It fires before
-- users_user_groups, by its name.
create function guard_person() returns trigger language plpgsql set search_path = '' as $$
declare
  claimed text := nullif(current_setting('app.user_groups', true), '');
begin
  if tg_op = 'INSERT' then
    if new.all_groups then
      new.user_groups := '{}';
    end if;
    if claimed <> '*' and (new.all_groups or new.is_admin or new.is_placeholder or new.sso_role_mapping is not null) then
      raise exception 'a restricted access makes no unrestricted person' using errcode = 'insufficient_privilege';
    end if;
    return new;
  end if;
  if new.all_groups and not old.all_groups then
    new.user_groups := '{}';
  elsif new.all_groups and new.user_groups <> '{}' then
    new.all_groups := false;
  end if;
  if old.is_admin and not old.is_placeholder
    and (not new.is_admin or not new.all_groups or new.role <> 'admin' or new.parent_id is not null
      or (new.disabled_at is not null and old.disabled_at is null))
  then
    raise exception 'the administrator stays one' using errcode = 'SE002';
  end if;
  if claimed <> '*' and (
    (new.all_groups, new.is_admin, new.is_placeholder, new.parent_id) is distinct from (old.all_groups, old.is_admin, old.is_placeholder, old.parent_id)
    or cast(new.sso_role_mapping as text) is distinct from cast(old.sso_role_mapping as text)
  ) then
    raise exception 'a restricted access makes no unrestricted person' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger users_person before insert or update on users for each row execute function guard_person();

create function keep_admin() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  -- Workspaces go whole.
  if old.is_admin and not old.is_placeholder and exists (select from public.workspaces w where w.id = old.workspace_id) then
    raise exception 'the administrator stays' using errcode = 'SE002';
  end if;
  return old;
end $$;
revoke execute on function keep_admin from public;
create trigger users_keep_admin before delete on users for each row execute function keep_admin();

create table user_usage (
  workspace_id uuid not null default app_workspace_id(),
  user_id uuid not null,
  sessions bigint not null default 0 check (sessions >= 0),
  last_session_at timestamptz(3),
  primary key (workspace_id, user_id),
  foreign key (workspace_id, user_id) references users (workspace_id, id) on delete cascade
);
alter table user_usage enable row level security, force row level security;
create policy in_workspace on user_usage using (
  workspace_id = app_workspace_id() and ((select app_is_unrestricted()) or user_id in (select users.id from users))
);
create policy of_owner on user_usage to current_user using (true);
insert into user_usage (workspace_id, user_id) select workspace_id, id from users;
grant select, insert, update (sessions, last_session_at) on user_usage to decision_runtime;

-- Whether the key has the groups of its user as a person has them: without groups it sees nothing.
alter table api_keys add column follows_person boolean not null default false;
grant select (follows_person) on api_keys to decision_runtime;

create function groups_of_key(person uuid, groups text[], sees_all boolean, follows_person boolean) returns text[]
  language sql immutable parallel safe
  return case when follows_person and not sees_all and groups = '{}' then array['user:' || cast(person as text)] else groups end;

create function inherit_follows_person() returns trigger language plpgsql set search_path = '' as $$
begin
  new.follows_person := coalesce((select k.follows_person from public.api_keys k where k.id = new.rotated_from), false);
  return new;
end $$;
create trigger api_keys_inherit before insert on api_keys
  for each row when (new.rotated_from is not null) execute function inherit_follows_person();

-- A new user has a row of usage. One without a password came from a directory, and gets a key as well: nobody knows its secret, since only hashes are
-- stored, and its first rotation makes the first key that can be used.
create function furnish_user() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  insert into public.user_usage (workspace_id, user_id) values (new.workspace_id, new.id);
  if new.password_hash is null and not new.is_admin then
    insert into public.api_keys (workspace_id, selector, secret_hash, name, role, user_groups, user_id, follows_person)
    values (
      new.workspace_id,
      left(replace(cast(gen_random_uuid() as text), '-', ''), 12),
      sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
      new.email, new.role, public.groups_of_key(new.id, new.user_groups, new.all_groups, true), new.id, true
    );
  end if;
  return null;
end $$;
revoke execute on function furnish_user from public;
create trigger users_furnish after insert on users for each row execute function furnish_user();

create or replace function follow_user(wanted uuid) returns table (selector text)
  language sql security definer set search_path = '' as $$
  update public.api_keys
    set role = users.role, user_groups = public.groups_of_key(users.id, users.user_groups, users.all_groups, api_keys.follows_person)
    from public.users
    where users.id = wanted and api_keys.user_id = wanted and api_keys.revoked_at is null
      and users.workspace_id = public.app_workspace_id() and api_keys.workspace_id = public.app_workspace_id()
    returning api_keys.selector
$$;

-- The key of a user who is disabled is answered as a revoked one.
create or replace function find_api_key(wanted text)
  returns table (
    id uuid, workspace_id uuid, selector text, secret_hash bytea, role text, entitlements text[], user_groups text[],
    expires_at timestamptz, revoked_at timestamptz
  )
  language plpgsql security definer set search_path = '' as $$
begin
  perform set_config('app.key_selector', wanted, true);
  return query
    select k.id, k.workspace_id, k.selector, k.secret_hash, k.role, r.entitlements, k.user_groups, k.expires_at,
      coalesce(k.revoked_at, u.disabled_at)
    from public.api_keys k
    join public.roles r on r.workspace_id = k.workspace_id and r.name = k.role
    left join public.users u on u.workspace_id = k.workspace_id and u.id = k.user_id
    where k.selector = wanted;
end $$;

-- The administrator of the workspace, also for those who do not see the row.
create function app_admin_id() returns uuid
  language sql stable security definer set search_path = '' as $$
  select users.id from public.users where users.workspace_id = public.app_workspace_id() and users.is_admin
$$;
revoke execute on function app_admin_id from public;
grant execute on function app_admin_id to decision_runtime;

-- By the index, which row security keeps from being used: it does not trust lower().
create function find_user_by_email(wanted text) returns uuid
  language sql stable security definer set search_path = '' as $$
  select u.id from public.users u where u.workspace_id = public.app_workspace_id() and lower(u.email) = lower(wanted)
$$;
revoke execute on function find_user_by_email from public;
grant execute on function find_user_by_email to decision_runtime;

-- Gives the transaction the groups of a person of the workspace that it has claimed.
create function claim_user(wanted uuid) returns void
  language plpgsql security definer set search_path = '' as $$
declare
  person record;
begin
  select u.user_groups, u.all_groups, u.disabled_at into person
    from public.users u where u.id = wanted and u.workspace_id = public.app_workspace_id();
  if not found or person.disabled_at is not null then
    raise exception 'the user is unknown or disabled' using errcode = 'SE001';
  end if;
  perform set_config('app.user_id', cast(wanted as text), true),
    set_config('app.user_groups', case when person.all_groups then '*' else cast(person.user_groups as text) end, true);
end $$;
revoke execute on function claim_user from public;
grant execute on function claim_user to decision_runtime;

-- The workspace of a slug; without one the only workspace there is.
create function find_sign_in_workspace(wanted text) returns table (id uuid, slug text, name text)
  language sql stable security definer set search_path = '' as $$
  select w.id, w.slug, w.name from public.workspaces w
  where w.slug = wanted
    or (wanted is null and not exists (select from public.workspaces o where o.id <> w.id))
  limit 1
$$;
revoke execute on function find_sign_in_workspace from public;
grant execute on function find_sign_in_workspace to decision_runtime;

create table sessions (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null default app_workspace_id(),
  user_id uuid not null,
  method text not null check (method in ('passthrough', 'password', 'oidc')),
  created_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  address text check (length(address) <= 100),
  user_agent text check (length(user_agent) <= 500),
  foreign key (workspace_id, user_id) references users (workspace_id, id) on delete cascade
);
create index sessions_newest_first on sessions (workspace_id, created_at desc, id desc);
create index sessions_by_user on sessions (workspace_id, user_id, created_at desc, id desc);
create index sessions_by_expiry on sessions (workspace_id, expires_at);
alter table sessions enable row level security, force row level security;
create policy in_workspace on sessions using (
  workspace_id = app_workspace_id() and ((select app_is_unrestricted()) or user_id in (select users.id from users))
);
create policy directory on sessions for select to current_user using (true);
grant select, insert, delete, update (revoked_at) on sessions to decision_runtime;

-- The session behind an id with the person as the row says it now, before anything about the caller is known.
create function find_session(wanted uuid)
  returns table (
    id uuid, workspace_id uuid, user_id uuid, method text, expires_at timestamptz, revoked_at timestamptz, disabled_at timestamptz,
    email text, name text, role text, entitlements text[], user_groups text[], all_groups boolean
  )
  language sql stable security definer set search_path = '' as $$
  select s.id, s.workspace_id, s.user_id, s.method, s.expires_at, s.revoked_at, u.disabled_at,
    u.email, u.name, u.role, r.entitlements, u.user_groups, u.all_groups
  from public.sessions s
  join public.users u on u.workspace_id = s.workspace_id and u.id = s.user_id
  join public.roles r on r.workspace_id = u.workspace_id and r.name = u.role
  where s.id = wanted
$$;
revoke execute on function find_session from public;
grant execute on function find_session to decision_runtime;

-- Who signed in, or was refused: entries are added and read, and go after 400 days.
create table sign_ins (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null default app_workspace_id() references workspaces (id) on delete cascade,
  created_at timestamptz(3) not null default clock_timestamp(),
  -- It stays when the user is deleted; null where nobody has the address.
  user_id uuid,
  email text not null check (length(email) <= 254),
  method text not null check (method in ('passthrough', 'password', 'oidc', 'link')),
  outcome text not null check (outcome in ('succeeded', 'refused')),
  reason text check (length(reason) <= 200),
  address text check (length(address) <= 100),
  user_agent text check (length(user_agent) <= 500)
);
create index sign_ins_newest_first on sign_ins (workspace_id, created_at desc, id desc);
create index sign_ins_by_user on sign_ins (user_id) where user_id is not null;
alter table sign_ins enable row level security, force row level security;
create policy read_own on sign_ins for select using (
  workspace_id = app_workspace_id() and ((select app_is_unrestricted()) or user_id in (select users.id from users))
);
create policy add_own on sign_ins for insert with check (workspace_id = app_workspace_id());
create policy of_owner on sign_ins to current_user using (true);
create trigger sign_ins_never_change before update on sign_ins
  for each statement execute function refuse_change();
grant select, insert on sign_ins to decision_runtime;

-- A few of the old ones go with each that comes.
create function forget_sign_ins() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  delete from public.sign_ins where id in (
    select o.id from public.sign_ins o
    where o.workspace_id = public.app_workspace_id() and o.created_at < clock_timestamp() - interval '400 days'
    order by o.created_at limit 20
  );
  return null;
end $$;
revoke execute on function forget_sign_ins from public;
create trigger sign_ins_forget after insert on sign_ins for each statement execute function forget_sign_ins();
`,
};
