import { type Migration } from './migration';

/**
 * Rules and their published versions.
 *
 * Documents are `json`, not `jsonb`: they are stored and read whole, `json` keeps every string that JSON can write (`jsonb`
 * refuses U+0000), and storing a table of 100,000 rows costs no conversion.
 *
 * An id in `rule_ids` outlives its rule: a rule that is deleted and imported again goes on counting where it stopped, so that a
 * version number, which caches keep for ever, never means two versions.
 */
export const rules: Migration = {
  name: '0003-rules',
  sql: /* sql */ `
create table rule_ids (
  id uuid primary key,
  workspace_id uuid not null default app_workspace_id() references workspaces (id) on delete cascade,
  last_number integer not null default 0,
  unique (workspace_id, id)
);
alter table rule_ids enable row level security, force row level security;
create policy in_workspace on rule_ids using (workspace_id = app_workspace_id());

create table rules (
  id uuid primary key,
  workspace_id uuid not null default app_workspace_id(),
  stable_id uuid not null default gen_random_uuid(),
  slug text not null,
  name text not null,
  description text,
  labels text[] not null,
  user_groups text[] not null,
  folder json not null,
  request_schema json not null,
  response_schema json not null,
  conditions json not null,
  row_count integer not null,
  groups json not null,
  settings json not null,
  test_suite json not null,
  sample_request json not null,
  sample_response json not null,
  test_request json not null,
  metadata json not null,
  context json not null,
  published_version_id uuid,
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp(),
  updated_by text default app_actor(),
  unique (workspace_id, id),
  unique (workspace_id, stable_id),
  constraint rules_slug_key unique (workspace_id, slug),
  foreign key (workspace_id, id) references rule_ids (workspace_id, id) on delete cascade
);
create index rules_newest_first on rules (workspace_id, created_at desc, id desc);
create index rules_by_name on rules (workspace_id, name);
create trigger rules_user_groups before insert or update of user_groups on rules
  for each row execute function guard_user_groups();

alter table rules enable row level security, force row level security;
create policy in_workspace on rules using (workspace_id = app_workspace_id() and app_may_see(user_groups));

create table rule_versions (
  id uuid primary key,
  workspace_id uuid not null default app_workspace_id(),
  rule_id uuid not null,
  number integer not null check (number > 0),
  -- What the engine compiles: a RuleTable.
  definition json not null,
  -- The rest of the draft as it was published.
  details json not null,
  published_at timestamptz(3) not null default clock_timestamp(),
  published_by text default app_actor(),
  unique (rule_id, number),
  unique (rule_id, id),
  foreign key (workspace_id, rule_id) references rules (workspace_id, id) on delete cascade
);
alter table rules add foreign key (id, published_version_id) references rule_versions (rule_id, id);

create function refuse_change() returns trigger language plpgsql set search_path = '' as $$
begin
  raise exception 'rows of % never change', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger rule_versions_never_change before update on rule_versions
  for each statement execute function refuse_change();

alter table rule_versions enable row level security, force row level security;
-- Whoever sees the rule sees its versions; the inner select is subject to the policy of rules.
create policy in_workspace on rule_versions using (
  workspace_id = app_workspace_id() and exists (select from rules where rules.id = rule_versions.rule_id)
);

grant select, insert, update (last_number) on rule_ids to decision_runtime;
grant select, insert, delete on rules to decision_runtime;
grant update (
  slug, name, description, labels, user_groups, folder, request_schema, response_schema, conditions, row_count, groups, settings,
  test_suite, sample_request, sample_response, test_request, metadata, context, published_version_id, updated_at, updated_by
) on rules to decision_runtime;
grant select, insert on rule_versions to decision_runtime;
`,
};
