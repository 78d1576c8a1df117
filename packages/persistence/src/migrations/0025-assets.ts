import { type Migration } from './migration';

/**
 * Rules and flows are assets: one table holds both, with the kind of each. The tables of rules are renamed; views by their former names show rules alone
 * and take every statement of the previous release, so that it keeps working and never meets a flow. They run with the rights of whoever uses
 * them, so that row security and grants hold behind them. Tables that refer to an asset keep their column `rule_id` (docs/adr/0037).
 *
 * `flow_uses` says which versions a published version of a flow runs. A version that is used is kept when its asset is deleted, in `kept_versions`, until
 * the last flow that uses it is gone. Triggers see to that, whatever statement deletes.
 */
export const assets: Migration = {
  name: '0025-assets',
  sql: /* sql */ `
alter table rules rename to assets;
alter table rule_versions rename to asset_versions;
alter table rule_ids rename to asset_ids;
alter table rule_test_results rename to asset_test_results;

alter table assets
  add column kind text not null default 'rule' check (kind in ('rule', 'flow')),
  -- Nodes and connections of a flow.
  add column graph json,
  add check ((kind = 'flow') = (graph is not null)),
  alter column conditions set default '[]',
  alter column groups set default '{}',
  drop constraint rules_slug_key,
  add constraint rules_slug_key unique (workspace_id, slug, kind);
drop index rules_newest_first;
create index assets_newest_first on assets (workspace_id, kind, created_at desc, id desc);
grant update (graph) on assets to decision_runtime;

-- That of the asset, here too: finding out costs no look at the asset.
alter table asset_versions
  add column kind text not null default 'rule' check (kind in ('rule', 'flow')),
  -- Of flows alone: whether a node in it, or in a flow that it runs, asks something outside.
  add column reaches_out boolean,
  add check ((kind = 'flow') = (reaches_out is not null));

create view rules with (security_invoker = true) as
  select id, workspace_id, stable_id, slug, name, description, labels, user_groups, folder, request_schema, response_schema, conditions,
    row_count, groups, settings, test_suite, sample_request, sample_response, test_request, metadata, context, published_version_id,
    created_at, updated_at, updated_by, value_ids, context_slug
  from assets where kind = 'rule';
create view rule_versions with (security_invoker = true) as
  select id, workspace_id, rule_id, number, definition, details, published_at, published_by, value_ids
  from asset_versions where kind = 'rule';
-- Ids are claimed for either kind: nothing says of which one that is gone was.
create view rule_ids with (security_invoker = true) as select id, workspace_id, last_number from asset_ids;
create view rule_test_results with (security_invoker = true) as
  select workspace_id, rule_id, test_id, success, error, state, executed_at
  from asset_test_results
  where exists (select from assets where assets.id = asset_test_results.rule_id and assets.kind = 'rule');

grant select, insert, update (last_number) on rule_ids to decision_runtime;
grant select, insert, delete on rules to decision_runtime;
grant update (
  slug, name, description, labels, user_groups, folder, request_schema, response_schema, conditions, row_count, groups, settings,
  test_suite, sample_request, sample_response, test_request, metadata, context, published_version_id, updated_at, updated_by, value_ids
) on rules to decision_runtime;
grant select, insert on rule_versions to decision_runtime;
grant select, insert, delete, update (success, error, state, executed_at) on rule_test_results to decision_runtime;

create table flow_uses (
  workspace_id uuid not null default app_workspace_id() references workspaces (id) on delete cascade,
  flow_id uuid not null,
  -- Either may be a version that is kept.
  version_id uuid not null,
  used_version_id uuid not null,
  used_asset_id uuid not null,
  primary key (version_id, used_version_id)
);
create index flow_uses_by_version on flow_uses (used_version_id);
create index flow_uses_by_asset on flow_uses (used_asset_id);
create index flow_uses_by_workspace on flow_uses (workspace_id);
alter table flow_uses enable row level security, force row level security;
-- Whoever sees the flow sees what it uses; the inner select is subject to the policy of assets.
create policy in_workspace on flow_uses using (
  workspace_id = app_workspace_id() and exists (select from assets where assets.id = flow_uses.flow_id)
);
create policy of_owner on flow_uses to current_user using (true);
grant select, insert on flow_uses to decision_runtime;

create table kept_versions (
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  kind text not null check (kind in ('rule', 'flow')),
  asset_id uuid not null,
  number integer not null,
  reaches_out boolean,
  value_ids uuid[] not null,
  definition json not null,
  -- Those that the asset had last.
  user_groups text[] not null,
  kept_at timestamptz(3) not null default clock_timestamp()
);
create index kept_versions_by_workspace on kept_versions (workspace_id);
create index kept_versions_by_value on kept_versions using gin (value_ids) where value_ids <> '{}';
alter table kept_versions enable row level security, force row level security;
create policy in_workspace on kept_versions using (workspace_id = app_workspace_id() and app_may_see(user_groups));
create policy of_owner on kept_versions to current_user using (true);
grant select on kept_versions to decision_runtime;

create function keep_used_versions() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  insert into public.kept_versions (id, workspace_id, kind, asset_id, number, reaches_out, value_ids, definition, user_groups)
  select v.id, v.workspace_id, v.kind, v.rule_id, v.number, v.reaches_out, v.value_ids, v.definition, old.user_groups
  from public.asset_versions v
  where v.rule_id = old.id
    and exists (select from public.flow_uses u where u.used_version_id = v.id and u.flow_id <> old.id)
    -- Nothing is kept of a workspace that goes.
    and exists (select from public.workspaces w where w.id = old.workspace_id);
  return old;
end $$;
revoke execute on function keep_used_versions from public;
create trigger assets_keep_used_versions before delete on assets for each row execute function keep_used_versions();

-- After versions are gone for good: what they used is used no more by them.
create function forget_uses() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  if exists (select from gone) then
    delete from public.flow_uses u using gone
    where u.version_id = gone.id and not exists (select from public.kept_versions k where k.id = gone.id);
  end if;
  return null;
end $$;
revoke execute on function forget_uses from public;
create trigger asset_versions_forget_uses after delete on asset_versions
  referencing old table as gone for each statement execute function forget_uses();
create trigger kept_versions_forget_uses after delete on kept_versions
  referencing old table as gone for each statement execute function forget_uses();

-- Versions that were kept go with their last use. They are locked first: of two uses that end at once the second sees the end of the first.
create function purge_kept_versions() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  if exists (select from gone) then
    perform from public.kept_versions k where k.id in (select used_version_id from gone) order by k.id for update;
    delete from public.kept_versions k
    where k.id in (select used_version_id from gone) and not exists (select from public.flow_uses u where u.used_version_id = k.id);
  end if;
  return null;
end $$;
revoke execute on function purge_kept_versions from public;
create trigger flow_uses_purge_kept_versions after delete on flow_uses
  referencing old table as gone for each statement execute function purge_kept_versions();

-- Those of the wanted versions that exist or are kept: they stay so until the transaction ends.
create policy held_by_owner on assets for update to current_user using (workspace_id = app_workspace_id());
create function hold_versions(wanted uuid[]) returns table (id uuid)
  language plpgsql security definer set search_path = '' as $$
begin
  perform from public.assets a
    where a.id in (select v.rule_id from public.asset_versions v where v.id = any (wanted)) and a.workspace_id = public.app_workspace_id()
    order by a.id for key share;
  perform from public.kept_versions k where k.id = any (wanted) and k.workspace_id = public.app_workspace_id()
    order by k.id for key share;
  return query
    select v.id from public.asset_versions v where v.id = any (wanted) and v.workspace_id = public.app_workspace_id()
    union all
    select k.id from public.kept_versions k where k.id = any (wanted) and k.workspace_id = public.app_workspace_id();
end $$;
revoke execute on function hold_versions from public;
grant execute on function hold_versions to decision_runtime;

-- The asset of a version that is kept is gone: it counts as one that is not visible.
create or replace function find_value_uses(wanted uuid[]) returns table (value_id uuid, rule_id uuid)
  language plpgsql stable security definer set search_path = '' as $$
begin
  return query execute
    'select uses.value_id, uses.rule_id
     from (
       select unnest(a.value_ids) as value_id, a.id as rule_id from public.assets a
         where a.value_ids && $1 and a.value_ids <> ''{}'' and a.workspace_id = public.app_workspace_id()
       union
       select unnest(v.value_ids), v.rule_id from public.asset_versions v
         where v.value_ids && $1 and v.value_ids <> ''{}'' and v.workspace_id = public.app_workspace_id()
       union
       select unnest(k.value_ids), k.asset_id from public.kept_versions k
         where k.value_ids && $1 and k.value_ids <> ''{}'' and k.workspace_id = public.app_workspace_id()
     ) as uses
     where uses.value_id = any ($1)'
    using wanted;
end $$;
`,
};
