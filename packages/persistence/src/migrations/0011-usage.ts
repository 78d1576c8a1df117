import { type Migration } from './migration';

/**
 * How much each workspace decided in each month (UTC). Whoever counts sends batches under ids of their own; a batch that arrives twice
 * counts once. The ids are remembered for a day.
 */
export const usage: Migration = {
  name: '0011-usage',
  sql: /* sql */ `
create table usage_counters (
  workspace_id uuid not null default app_workspace_id() references workspaces (id) on delete cascade,
  month date not null check (extract(day from month) = 1),
  executions bigint not null check (executions >= 0),
  updated_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, month)
);
alter table usage_counters enable row level security, force row level security;
create policy in_workspace on usage_counters using (workspace_id = app_workspace_id());
grant select, insert, update (executions, updated_at) on usage_counters to decision_runtime;

create table usage_batches (
  workspace_id uuid not null default app_workspace_id() references workspaces (id) on delete cascade,
  id uuid not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, id)
);
create index usage_batches_by_age on usage_batches (workspace_id, created_at);
alter table usage_batches enable row level security, force row level security;
create policy in_workspace on usage_batches using (workspace_id = app_workspace_id());
grant select, insert, delete on usage_batches to decision_runtime;
`,
};
