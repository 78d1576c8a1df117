import { type Migration } from './migration';

/**
 * Environments and releases.
 *
 * The live release of a rule in an environment is the pin: there is no second copy of it that could say something else. A partial unique
 * index lets there be one, and one that waits for approval. What a release became is kept.
 *
 * Environments belong to the whole workspace: an access that is restricted to groups reads them and changes none. A release is visible
 * with its rule.
 */
export const releases: Migration = {
  name: '0006-releases',
  sql: /* sql */ `
create function app_is_unrestricted() returns boolean language sql stable parallel safe
  return coalesce(current_setting('app.user_groups', true), '') = '*';

create table environments (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null default app_workspace_id() references workspaces (id) on delete cascade,
  slug text not null check (slug ~ '^[a-z][a-z0-9]*([-_][a-z0-9]+)*$' and slug <> 'latest' and length(slug) <= 100),
  name text not null,
  -- Releases are promoted from a lower level to the next higher one.
  level integer not null check (level between 1 and 1000),
  approvers text[] not null,
  approval_scheme text not null check (approval_scheme in ('any', 'all')),
  direct_releases boolean not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp(),
  updated_by text default app_actor(),
  unique (workspace_id, id),
  constraint environments_slug_key unique (workspace_id, slug)
);
alter table environments enable row level security, force row level security;
create policy read_in_workspace on environments for select using (workspace_id = app_workspace_id());
create policy write_unrestricted on environments using (workspace_id = app_workspace_id() and app_is_unrestricted());

create table releases (
  id uuid primary key,
  workspace_id uuid not null default app_workspace_id(),
  environment_id uuid not null,
  rule_id uuid not null,
  version_id uuid not null,
  state text not null check (state in ('pending', 'live', 'superseded', 'rolled_back', 'withdrawn', 'cancelled')),
  -- As the environment had them when the release was made.
  approvers text[] not null,
  approval_scheme text not null check (approval_scheme in ('any', 'all')),
  source text not null check (source in ('direct', 'promotion', 'rollback')),
  source_release_id uuid,
  -- What was live when this one went live: where a rollback leads.
  previous_release_id uuid,
  note text,
  created_at timestamptz(3) not null default clock_timestamp(),
  created_by text default app_actor(),
  live_at timestamptz(3),
  ended_at timestamptz(3),
  ended_by text,
  unique (workspace_id, id),
  foreign key (workspace_id, environment_id) references environments (workspace_id, id) on delete cascade,
  foreign key (workspace_id, rule_id) references rules (workspace_id, id) on delete cascade,
  foreign key (rule_id, version_id) references rule_versions (rule_id, id) on delete cascade
);
create unique index releases_pin on releases (environment_id, rule_id) where state = 'live';
create unique index releases_one_pending on releases (environment_id, rule_id) where state = 'pending';
create index releases_by_rule on releases (rule_id);
create index releases_newest_first on releases (workspace_id, created_at desc, id desc);

alter table releases enable row level security, force row level security;
create policy in_workspace on releases using (
  workspace_id = app_workspace_id() and exists (select from rules where rules.id = releases.rule_id)
);

create table release_approvals (
  workspace_id uuid not null default app_workspace_id(),
  release_id uuid not null,
  approved_by text not null default app_actor(),
  -- The approvers of the release for whom this approval stands.
  stands_for text[] not null,
  approved_at timestamptz(3) not null default clock_timestamp(),
  primary key (release_id, approved_by),
  foreign key (workspace_id, release_id) references releases (workspace_id, id) on delete cascade
);
alter table release_approvals enable row level security, force row level security;
create policy in_workspace on release_approvals using (
  workspace_id = app_workspace_id() and exists (select from releases where releases.id = release_approvals.release_id)
);

grant select, insert on environments to decision_runtime;
grant update (name, level, approvers, approval_scheme, direct_releases, updated_at, updated_by) on environments to decision_runtime;
grant select, insert on releases to decision_runtime;
grant update (state, previous_release_id, live_at, ended_at, ended_by) on releases to decision_runtime;
grant select, insert on release_approvals to decision_runtime;
`,
};
