import { type Migration } from './migration';

/** Links that people ask for themselves, by mail, and invitations of people who will see everything (docs/adr/0070-second-factors-and-mails.md). */
export const mailedLinks: Migration = {
  name: '0037-mailed-links',
  sql: /* sql */ `
-- As create_user_link, unless there is a link that is younger than the pause: nobody is sent one mail after the other.
create function offer_user_link(wanted uuid, for_purpose text, new_selector text, new_hash bytea, until timestamptz, pause interval) returns boolean
  language plpgsql security definer set search_path = '' as $$
begin
  if not public.hold_credentials(wanted) then
    return false;
  end if;
  -- A statement of its own, since it must see what whoever held the row before has done.
  if exists (
    select from public.user_links l
    where l.workspace_id = public.app_workspace_id() and l.user_id = wanted and l.purpose = for_purpose
      and l.created_at > clock_timestamp() - pause
  ) then
    return false;
  end if;
  return public.create_user_link(wanted, for_purpose, new_selector, new_hash, until);
end $$;
revoke execute on function offer_user_link from public;
grant execute on function offer_user_link to decision_runtime;

alter table invitations add column all_groups boolean not null default false check (not all_groups or user_groups = '{}');
grant select (all_groups) on invitations to decision_runtime;

create function guard_invitation() returns trigger language plpgsql set search_path = '' as $$
begin
  if new.all_groups and nullif(current_setting('app.user_groups', true), '') <> '*' then
    raise exception 'a restricted access invites no unrestricted person' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger invitations_person before insert on invitations for each row execute function guard_invitation();
`,
};
