import { type Migration } from './migration';

/**
 * Secrets that belong to the deployment, not to a workspace, and that its services share. They are made here, so that no operator has to
 * hand them out: who may connect as the services may know them.
 */
export const deploymentSecrets: Migration = {
  name: '0016-deployment-secrets',
  sql: /* sql */ `
create table deployment_secrets (
  name text primary key,
  secret bytea not null check (length(secret) = 32),
  created_at timestamptz(3) not null default clock_timestamp()
);
alter table deployment_secrets enable row level security, force row level security;
create policy of_owner on deployment_secrets to current_user using (true);

-- Two random UUIDs hold 244 random bits.
insert into deployment_secrets (name, secret)
values ('cache_entries', sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));

create function cache_entry_secret() returns bytea
  language sql stable security definer set search_path = '' as $$
  select secret from public.deployment_secrets where name = 'cache_entries'
$$;
revoke execute on function cache_entry_secret from public;
grant execute on function cache_entry_secret to decision_runtime;
`,
};
