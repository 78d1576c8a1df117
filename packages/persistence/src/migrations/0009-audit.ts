import { type Migration } from './migration';

/**
 * The audit: who changed what, when and from where. The runtime role may add entries and read them, and nothing else; for whoever owns the table an
 * entry never changes either, only whole workspaces and what an operator's retention takes away are deleted.
 *
 * An entry carries the groups of its subject: an access that is restricted reads of what it could see. It may add entries about anything in its
 * workspace, since it may, for instance, take its own group away from a rule.
 */
export const audit: Migration = {
  name: '0009-audit',
  sql: /* sql */ `
create table audit_entries (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null default app_workspace_id() references workspaces (id) on delete cascade,
  created_at timestamptz(3) not null default clock_timestamp(),
  -- Who: the id of an API key, or another actor's name; and the name of the key at that time.
  actor text default app_actor(),
  actor_name text,
  -- From where.
  address text default nullif(current_setting('app.address', true), ''),
  request_id text default nullif(current_setting('app.request_id', true), ''),
  action text not null,
  kind text not null,
  subject_id text not null,
  subject_name text not null,
  user_groups text[] not null,
  before json,
  after json
);
create index audit_entries_newest_first on audit_entries (workspace_id, created_at desc, id desc);
create index audit_entries_by_subject on audit_entries (workspace_id, subject_id, created_at desc, id desc);
create trigger audit_entries_never_change before update on audit_entries
  for each statement execute function refuse_change();

alter table audit_entries enable row level security, force row level security;
create policy read_own on audit_entries for select using (workspace_id = app_workspace_id() and app_may_see(user_groups));
create policy add_own on audit_entries for insert with check (workspace_id = app_workspace_id());

grant select, insert on audit_entries to decision_runtime;
`,
};
