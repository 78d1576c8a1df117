import { type Migration } from './migration';

/**
 * Looking up many values at once costs what their number says, whatever the planner believes. Where the statistics knew nothing of a workspace's
 * values, it read all of them and compared each with every wanted one, since a parameter of a function is no constant to it. `execute` plans with
 * the array itself: its length is known, and membership in it is looked up by hash.
 */
export const valueLookUps: Migration = {
  name: '0024-value-look-ups',
  sql: /* sql */ `
create or replace function find_taken_value_names(wanted text[]) returns table (name text)
  language plpgsql stable security definer set search_path = '' as $$
begin
  return query execute
    'select v.name from public.workspace_values v where v.name = any ($1) and v.workspace_id = public.app_workspace_id()'
    using wanted;
end $$;

create or replace function find_bound_values(wanted uuid[]) returns table (id uuid, name text, type text, content json)
  language plpgsql stable security definer set search_path = '' as $$
begin
  return query execute
    'select v.id, v.name, v.type, v.content from public.workspace_values v
       where v.id = any ($1) and v.workspace_id = public.app_workspace_id()'
    using wanted;
end $$;

create or replace function find_value_uses(wanted uuid[]) returns table (value_id uuid, rule_id uuid)
  language plpgsql stable security definer set search_path = '' as $$
begin
  return query execute
    'select uses.value_id, uses.rule_id
     from (
       select unnest(r.value_ids) as value_id, r.id as rule_id from public.rules r
         where r.value_ids && $1 and r.value_ids <> ''{}'' and r.workspace_id = public.app_workspace_id()
       union
       select unnest(v.value_ids), v.rule_id from public.rule_versions v
         where v.value_ids && $1 and v.value_ids <> ''{}'' and v.workspace_id = public.app_workspace_id()
     ) as uses
     where uses.value_id = any ($1)'
    using wanted;
end $$;
`,
};
