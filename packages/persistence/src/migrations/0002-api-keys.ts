import { type Migration } from './migration';

/**
 * API keys. The runtime role never reads a hash from the table: it asks `find_api_key`, which answers the one key whose public
 * selector is given, before the workspace is known.
 */
export const apiKeys: Migration = {
  name: '0002-api-keys',
  sql: /* sql */ `
create table api_keys (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null default app_workspace_id() references workspaces (id) on delete cascade,
  selector text not null unique,
  secret_hash bytea not null check (length(secret_hash) = 32),
  name text not null,
  role text not null,
  user_groups text[] not null default '{}',
  created_at timestamptz(3) not null default clock_timestamp(),
  created_by text default app_actor(),
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  foreign key (workspace_id, role) references roles (workspace_id, name)
);
create index api_keys_newest_first on api_keys (workspace_id, created_at desc, id desc);
create trigger api_keys_user_groups before insert or update of user_groups on api_keys
  for each row execute function guard_user_groups();

alter table api_keys enable row level security, force row level security;
create policy in_workspace on api_keys using (workspace_id = app_workspace_id() and app_may_see(user_groups));
create policy by_selector on api_keys for select to current_user
  using (selector = current_setting('app.key_selector', true));

create function find_api_key(wanted text)
  returns table (
    id uuid, workspace_id uuid, selector text, secret_hash bytea, role text, entitlements text[], user_groups text[],
    expires_at timestamptz, revoked_at timestamptz
  )
  language plpgsql security definer set search_path = '' as $$
begin
  perform set_config('app.key_selector', wanted, true);
  return query
    select k.id, k.workspace_id, k.selector, k.secret_hash, k.role, r.entitlements, k.user_groups, k.expires_at, k.revoked_at
    from public.api_keys k
    join public.roles r on r.workspace_id = k.workspace_id and r.name = k.role
    where k.selector = wanted;
end $$;
revoke execute on function find_api_key from public;

grant execute on function find_api_key to decision_runtime;
grant select (id, workspace_id, selector, name, role, user_groups, created_at, created_by, expires_at, last_used_at, revoked_at)
  on api_keys to decision_runtime;
grant insert on api_keys to decision_runtime;
grant update (last_used_at, revoked_at) on api_keys to decision_runtime;
`,
};
