import { type Migration } from './migration';

/**
 * What signing in without a directory needs: failures and locks, one-time links, codes by the clock and for emergencies
 * (docs/adr/0064-people-in-the-database.md).
 *
 * The runtime role reads and writes none of the tables of credentials. Functions of the owner change them for people whom the access reaches: itself,
 * or whoever it sees. `find_sign_in` alone answers a hash, of one address, before anything about the caller is known; hashes of links and of codes for
 * emergencies are compared here and never leave.
 */
export const localSignIn: Migration = {
  name: '0035-local-sign-in',
  sql: /* sql */ `
create function app_may_reach(person uuid, groups text[]) returns boolean language sql stable parallel safe
  return coalesce(public.app_may_see(groups) or person = public.app_user_id(), false);

create table user_credentials (
  workspace_id uuid not null default app_workspace_id(),
  user_id uuid not null,
  -- Since somebody signed in last; each guess counts before it is checked.
  failed_attempts integer not null default 0 check (failed_attempts >= 0),
  locked_until timestamptz(3),
  password_changed_at timestamptz(3),
  totp_secret text check (length(totp_secret) <= 500),
  -- Waits for its first code.
  totp_pending text check (length(totp_pending) <= 500),
  -- The step of the last code that was taken: none is taken twice.
  totp_last_step bigint,
  primary key (workspace_id, user_id),
  foreign key (workspace_id, user_id) references users (workspace_id, id) on delete cascade
);
alter table user_credentials enable row level security, force row level security;
create policy of_owner on user_credentials to current_user using (true);

create table user_recovery_codes (
  workspace_id uuid not null default app_workspace_id(),
  user_id uuid not null,
  code_hash bytea not null check (length(code_hash) = 32),
  primary key (workspace_id, user_id, code_hash),
  foreign key (workspace_id, user_id) references users (workspace_id, id) on delete cascade
);
alter table user_recovery_codes enable row level security, force row level security;
create policy of_owner on user_recovery_codes to current_user using (true);

-- One of each purpose for a person: a new one replaces it.
create table user_links (
  workspace_id uuid not null default app_workspace_id(),
  user_id uuid not null,
  purpose text not null check (purpose in ('reset')),
  selector text not null unique check (length(selector) <= 100),
  token_hash bytea not null check (length(token_hash) = 32),
  created_at timestamptz(3) not null default clock_timestamp(),
  created_by text default app_actor(),
  expires_at timestamptz(3) not null,
  primary key (workspace_id, user_id, purpose),
  foreign key (workspace_id, user_id) references users (workspace_id, id) on delete cascade
);
alter table user_links enable row level security, force row level security;
create policy of_owner on user_links to current_user using (true);

-- The functions below write users on behalf of the services; those of the workspace that is claimed.
create policy written_by_owner on users for update to current_user using (workspace_id = app_workspace_id());

create function find_sign_in(space uuid, wanted text)
  returns table (
    user_id uuid, email text, password_hash text, disabled_at timestamptz, totp_secret text, totp_last_step bigint,
    failed_attempts integer, locked_until timestamptz
  )
  language sql stable security definer set search_path = '' as $$
  select u.id, u.email, u.password_hash, u.disabled_at, c.totp_secret, c.totp_last_step, coalesce(c.failed_attempts, 0), c.locked_until
  from public.users u
  left join public.user_credentials c on c.workspace_id = u.workspace_id and c.user_id = u.id
  where u.workspace_id = space and lower(u.email) = lower(wanted)
$$;
revoke execute on function find_sign_in from public;
grant execute on function find_sign_in to decision_runtime;

-- Locks the row of a person whom the access reaches, made where it is missing; answers whether there is one.
create function hold_credentials(wanted uuid) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  if not exists (
    select from public.users u
    where u.id = wanted and u.workspace_id = public.app_workspace_id() and public.app_may_reach(u.id, u.user_groups)
  ) then
    return false;
  end if;
  insert into public.user_credentials (workspace_id, user_id) values (public.app_workspace_id(), wanted) on conflict do nothing;
  perform from public.user_credentials c where c.workspace_id = public.app_workspace_id() and c.user_id = wanted for update;
  return true;
end $$;
revoke execute on function hold_credentials from public;

-- Counts a guess before it is checked, so that of many at once all are counted; one that comes while the account is locked is not admitted.
create function admit_sign_in(wanted uuid, lock_after integer, lock_for interval)
  returns table (admitted boolean, failed_attempts integer, locked_until timestamptz)
  language plpgsql security definer set search_path = '' as $$
declare
  known record;
begin
  if not public.hold_credentials(wanted) then
    return;
  end if;
  select c.failed_attempts, c.locked_until into known
    from public.user_credentials c where c.workspace_id = public.app_workspace_id() and c.user_id = wanted;
  if known.locked_until > clock_timestamp() then
    return query select false, known.failed_attempts, known.locked_until;
    return;
  end if;
  return query
    update public.user_credentials c set
      failed_attempts = least(c.failed_attempts, 1000000) + 1,
      locked_until = case when c.failed_attempts + 1 >= lock_after then clock_timestamp() + lock_for end
    where c.workspace_id = public.app_workspace_id() and c.user_id = wanted
    returning true, c.failed_attempts, c.locked_until;
end $$;
revoke execute on function admit_sign_in from public;
grant execute on function admit_sign_in to decision_runtime;

create function note_sign_in(wanted uuid) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  if not public.hold_credentials(wanted) then
    return false;
  end if;
  update public.user_credentials c set failed_attempts = 0, locked_until = null
    where c.workspace_id = public.app_workspace_id() and c.user_id = wanted;
  update public.users u set is_placeholder = false
    where u.workspace_id = public.app_workspace_id() and u.id = wanted and u.is_placeholder;
  return true;
end $$;
revoke execute on function note_sign_in from public;
grant execute on function note_sign_in to decision_runtime;

create function set_password(wanted uuid, new_hash text) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  if not public.hold_credentials(wanted) then
    return false;
  end if;
  update public.users u set password_hash = new_hash where u.workspace_id = public.app_workspace_id() and u.id = wanted;
  update public.user_credentials c set failed_attempts = 0, locked_until = null, password_changed_at = clock_timestamp()
    where c.workspace_id = public.app_workspace_id() and c.user_id = wanted;
  delete from public.user_links l where l.workspace_id = public.app_workspace_id() and l.user_id = wanted and l.purpose = 'reset';
  return true;
end $$;
revoke execute on function set_password from public;
grant execute on function set_password to decision_runtime;

create function create_user_link(wanted uuid, for_purpose text, new_selector text, new_hash bytea, until timestamptz) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  if not public.hold_credentials(wanted) then
    return false;
  end if;
  insert into public.user_links (workspace_id, user_id, purpose, selector, token_hash, expires_at)
    values (public.app_workspace_id(), wanted, for_purpose, new_selector, new_hash, until)
    on conflict (workspace_id, user_id, purpose) do update set
      selector = excluded.selector, token_hash = excluded.token_hash, expires_at = excluded.expires_at,
      created_at = clock_timestamp(), created_by = public.app_actor();
  return true;
end $$;
revoke execute on function create_user_link from public;
grant execute on function create_user_link to decision_runtime;

-- Whose link it is, before anything about the caller is known; it stays.
create function find_user_link(wanted text, given_hash bytea) returns table (workspace_id uuid, user_id uuid, purpose text, email text)
  language sql stable security definer set search_path = '' as $$
  select l.workspace_id, l.user_id, l.purpose, u.email
  from public.user_links l join public.users u on u.workspace_id = l.workspace_id and u.id = l.user_id
  where l.selector = wanted and l.token_hash = given_hash and l.expires_at > clock_timestamp() and u.disabled_at is null
$$;
revoke execute on function find_user_link from public;
grant execute on function find_user_link to decision_runtime;

-- Uses a link up: of several at once one gets it.
create function take_user_link(wanted text, given_hash bytea) returns table (user_id uuid, purpose text)
  language sql security definer set search_path = '' as $$
  delete from public.user_links l using public.users u
  where l.selector = wanted and l.token_hash = given_hash and l.expires_at > clock_timestamp()
    and l.workspace_id = public.app_workspace_id() and u.workspace_id = l.workspace_id and u.id = l.user_id and u.disabled_at is null
  returning l.user_id, l.purpose
$$;
revoke execute on function take_user_link from public;
grant execute on function take_user_link to decision_runtime;

create function set_totp(wanted uuid, new_secret text) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  if not public.hold_credentials(wanted) then
    return false;
  end if;
  update public.user_credentials c set totp_pending = new_secret where c.workspace_id = public.app_workspace_id() and c.user_id = wanted;
  return true;
end $$;
revoke execute on function set_totp from public;
grant execute on function set_totp to decision_runtime;

-- Of the person itself alone.
create function find_pending_totp() returns text
  language sql stable security definer set search_path = '' as $$
  select c.totp_pending from public.user_credentials c where c.workspace_id = public.app_workspace_id() and c.user_id = public.app_user_id()
$$;
revoke execute on function find_pending_totp from public;
grant execute on function find_pending_totp to decision_runtime;

create function confirm_totp(wanted uuid, step bigint) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  if not public.hold_credentials(wanted) then
    return false;
  end if;
  update public.user_credentials c set totp_secret = c.totp_pending, totp_pending = null, totp_last_step = step
    where c.workspace_id = public.app_workspace_id() and c.user_id = wanted and c.totp_pending is not null;
  return found;
end $$;
revoke execute on function confirm_totp from public;
grant execute on function confirm_totp to decision_runtime;

create function use_totp_step(wanted uuid, step bigint) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  if not public.hold_credentials(wanted) then
    return false;
  end if;
  update public.user_credentials c set totp_last_step = step
    where c.workspace_id = public.app_workspace_id() and c.user_id = wanted and c.totp_secret is not null
      and coalesce(c.totp_last_step < step, true);
  return found;
end $$;
revoke execute on function use_totp_step from public;
grant execute on function use_totp_step to decision_runtime;

-- Answers whether there was anything to clear.
create function clear_totp(wanted uuid) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  if not public.hold_credentials(wanted) then
    return false;
  end if;
  delete from public.user_recovery_codes r where r.workspace_id = public.app_workspace_id() and r.user_id = wanted;
  update public.user_credentials c set totp_secret = null, totp_pending = null, totp_last_step = null
    where c.workspace_id = public.app_workspace_id() and c.user_id = wanted and coalesce(c.totp_secret, c.totp_pending) is not null;
  return found;
end $$;
revoke execute on function clear_totp from public;
grant execute on function clear_totp to decision_runtime;

create function save_recovery_codes(wanted uuid, hashes bytea[]) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  if not public.hold_credentials(wanted) then
    return false;
  end if;
  delete from public.user_recovery_codes r where r.workspace_id = public.app_workspace_id() and r.user_id = wanted;
  insert into public.user_recovery_codes (workspace_id, user_id, code_hash)
    select public.app_workspace_id(), wanted, given.code_hash from unnest(hashes) as given (code_hash);
  return true;
end $$;
revoke execute on function save_recovery_codes from public;
grant execute on function save_recovery_codes to decision_runtime;

create function use_recovery_code(wanted uuid, given_hash bytea) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  if not public.hold_credentials(wanted) then
    return false;
  end if;
  delete from public.user_recovery_codes r
    where r.workspace_id = public.app_workspace_id() and r.user_id = wanted and r.code_hash = given_hash;
  return found;
end $$;
revoke execute on function use_recovery_code from public;
grant execute on function use_recovery_code to decision_runtime;

-- What may be told of how a person signs in.
create function describe_credentials(wanted uuid)
  returns table (has_password boolean, has_totp boolean, recovery_codes integer, locked_until timestamptz, password_changed_at timestamptz)
  language sql stable security definer set search_path = '' as $$
  select u.password_hash is not null, c.totp_secret is not null,
    cast((select count(*) from public.user_recovery_codes r where r.workspace_id = u.workspace_id and r.user_id = u.id) as integer),
    c.locked_until, c.password_changed_at
  from public.users u
  left join public.user_credentials c on c.workspace_id = u.workspace_id and c.user_id = u.id
  where u.id = wanted and u.workspace_id = public.app_workspace_id() and public.app_may_reach(u.id, u.user_groups)
$$;
revoke execute on function describe_credentials from public;
grant execute on function describe_credentials to decision_runtime;
`,
};
