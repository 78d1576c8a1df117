import { type Migration } from './migration';

/**
 * How many workers each workspace asks for, and until when. The workers are those of the whole deployment: an access that is restricted to
 * groups reads the number and does not change it, and whoever scales the deployment reads the largest of all workspaces, on behalf of none.
 */
export const workerFloors: Migration = {
  name: '0018-worker-floors',
  sql: /* sql */ `
create table worker_floors (
  workspace_id uuid primary key default app_workspace_id() references workspaces (id) on delete cascade,
  target_workers integer not null check (target_workers between 1 and 10000),
  expires_at timestamptz(3) not null,
  updated_at timestamptz(3) not null default clock_timestamp(),
  updated_by text default app_actor()
);
alter table worker_floors enable row level security, force row level security;
create policy read_in_workspace on worker_floors for select using (workspace_id = app_workspace_id());
create policy write_unrestricted on worker_floors using (workspace_id = app_workspace_id() and app_is_unrestricted());
create policy of_owner on worker_floors for select to current_user using (true);
grant select, insert, update (target_workers, expires_at, updated_at, updated_by) on worker_floors to decision_runtime;

create function desired_workers() returns integer
  language sql stable security definer set search_path = '' as $$
  select coalesce(max(target_workers), 0) from public.worker_floors where expires_at > clock_timestamp()
$$;
revoke execute on function desired_workers from public;
grant execute on function desired_workers to decision_runtime;
`,
};
