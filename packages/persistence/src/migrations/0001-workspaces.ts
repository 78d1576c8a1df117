import { type Migration } from './migration';

/**
 * Claims, workspaces, roles and people.
 *
 * Row security compares each row with the claims of the transaction: `app.workspace_id`, and `app.user_groups`, which is `*` for
 * an access without restriction and an array of names otherwise. A claim that is absent compares as null: nothing is visible.
 *
 * The owner of the tables is subject to it too (FORCE), except for a superuser. Policies "to current_user" let an owner without
 * that privilege find workspaces by slug and look up a key, and nothing more.
 */
export const workspaces: Migration = {
  name: '0001-workspaces',
  sql: /* sql */ `
create function app_workspace_id() returns uuid language sql stable parallel safe
  return cast(nullif(current_setting('app.workspace_id', true), '') as uuid);

create function app_actor() returns text language sql stable parallel safe
  return nullif(current_setting('app.actor', true), '');

create function app_may_see(groups text[]) returns boolean language sql stable parallel safe
  return case current_setting('app.user_groups', true)
    when '*' then true
    else groups && cast(nullif(current_setting('app.user_groups', true), '') as text[])
  end;

-- A restricted access gives a row only groups of its own; groups that the row already has may stay.
create function guard_user_groups() returns trigger language plpgsql set search_path = '' as $$
declare
  claimed text := nullif(current_setting('app.user_groups', true), '');
begin
  if claimed <> '*' and exists (
    select unnest(new.user_groups)
    except select unnest(old.user_groups)
    except select unnest(cast(claimed as text[]))
  ) then
    raise exception 'a restricted access can assign only its own user groups' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;

create table workspaces (
  id uuid primary key default gen_random_uuid(),
  slug text not null unique check (slug ~ '^[a-z0-9]+([-_][a-z0-9]+)*$' and length(slug) <= 200),
  name text not null,
  created_at timestamptz(3) not null default clock_timestamp()
);
alter table workspaces enable row level security, force row level security;
create policy own_workspace on workspaces using (id = app_workspace_id());
create policy directory on workspaces for select to current_user using (true);

create table roles (
  workspace_id uuid not null references workspaces (id) on delete cascade,
  name text not null,
  entitlements text[] not null,
  built_in boolean not null default false,
  primary key (workspace_id, name)
);
alter table roles enable row level security, force row level security;
create policy in_workspace on roles using (workspace_id = app_workspace_id());
create policy directory on roles for select to current_user using (true);

create table users (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null default app_workspace_id() references workspaces (id) on delete cascade,
  email text not null,
  name text,
  role text not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  unique (workspace_id, id),
  foreign key (workspace_id, role) references roles (workspace_id, name)
);
create unique index users_by_email on users (workspace_id, lower(email));
alter table users enable row level security, force row level security;
create policy in_workspace on users using (workspace_id = app_workspace_id());

create table user_groups (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null default app_workspace_id() references workspaces (id) on delete cascade,
  name text not null,
  description text,
  created_at timestamptz(3) not null default clock_timestamp(),
  unique (workspace_id, id),
  unique (workspace_id, name)
);
alter table user_groups enable row level security, force row level security;
create policy in_workspace on user_groups using (workspace_id = app_workspace_id());

create table user_group_members (
  workspace_id uuid not null default app_workspace_id(),
  group_id uuid not null,
  user_id uuid not null,
  primary key (group_id, user_id),
  foreign key (workspace_id, group_id) references user_groups (workspace_id, id) on delete cascade,
  foreign key (workspace_id, user_id) references users (workspace_id, id) on delete cascade
);
create index user_group_members_by_user on user_group_members (user_id);
alter table user_group_members enable row level security, force row level security;
create policy in_workspace on user_group_members using (workspace_id = app_workspace_id());

grant usage on schema public to decision_runtime;
grant select on roles to decision_runtime;
-- So that any user can check that the schema is up to date.
grant select on schema_migrations to public;
`,
};
