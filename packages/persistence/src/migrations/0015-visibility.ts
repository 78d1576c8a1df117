import { type Migration } from './migration';

/**
 * Names in a stored document are text, and nobody changes things that others share (docs/specs/visibility.md).
 *
 * A rule is bound by a slug that is a string: `->>` makes text of anything, and no check of a key's groups would see it. A folder without U+0000: one
 * that holds it makes every statement fail that looks into the folders of rules. What is stored already and does not hold to this is freed.
 *
 * `collection_groups` says for each collection of values that a context names what the key that named it sees of it: its groups, or null for a key
 * without restriction, which a collection without an entry counts as.
 */
export const visibility: Migration = {
  name: '0015-visibility',
  sql: /* sql */ `
-- So that an owner who is no superuser sees the rows.
alter table rules no force row level security;
update rules set context = 'null' where json_typeof(context -> 'slug') not in ('string', 'null');
alter table rules add constraint rules_context_slug_is_text
  check (coalesce(json_typeof(context -> 'slug'), 'null') in ('string', 'null'));

update rules set folder = 'null' where cast(folder as text) ~ '(^|[^\\\\])(\\\\\\\\)*\\\\u0000';
alter table rules add constraint rules_folder_is_text check (cast(folder as text) !~ '(^|[^\\\\])(\\\\\\\\)*\\\\u0000');

alter table rules force row level security;

alter table contexts add column collection_groups json not null default '{}';
grant update (collection_groups) on contexts to decision_runtime;

-- A restricted access adds and removes groups of its own, and no others.
create or replace function guard_user_groups() returns trigger language plpgsql set search_path = '' as $$
declare
  claimed text := nullif(current_setting('app.user_groups', true), '');
begin
  if claimed <> '*' and exists (
    (
      (select unnest(new.user_groups) except select unnest(old.user_groups))
      union (select unnest(old.user_groups) except select unnest(new.user_groups))
    )
    except select unnest(cast(claimed as text[]))
  ) then
    raise exception 'a restricted access can add and remove only its own user groups' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;

-- As guard_user_groups, but a value that an object manages gets the groups that the object has.
create or replace function guard_value_groups() returns trigger language plpgsql set search_path = '' as $$
declare
  claimed text := nullif(current_setting('app.user_groups', true), '');
begin
  if claimed <> '*' and exists (
    (
      (select unnest(new.user_groups) except select unnest(old.user_groups))
      union (select unnest(old.user_groups) except select unnest(new.user_groups))
    )
    except select unnest(cast(claimed as text[]))
  ) and not exists (
    select from public.workspace_objects where id = new.object_id and user_groups @> new.user_groups and user_groups <@ new.user_groups
  ) then
    raise exception 'a restricted access can add and remove only its own user groups' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
`,
};
