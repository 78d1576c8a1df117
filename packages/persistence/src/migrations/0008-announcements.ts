import { type Migration } from './migration';

/**
 * Announcements that a change owes: written in the transaction of the change, removed once they have been made. What a crash leaves behind
 * is taken up by another process. Taking and finishing happen on behalf of no workspace, through functions.
 */
export const announcements: Migration = {
  name: '0008-announcements',
  sql: /* sql */ `
create table announcements (
  id bigint generated always as identity primary key,
  workspace_id uuid not null default app_workspace_id() references workspaces (id) on delete cascade,
  kind text not null,
  keys text[] not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  -- When a process took it up that had not made the change.
  taken_at timestamptz(3)
);
alter table announcements enable row level security, force row level security;
create policy in_workspace on announcements using (workspace_id = app_workspace_id());
create policy of_owner on announcements to current_user using (true);

create function take_announcements(min_age interval, most integer)
  returns table (id bigint, workspace_id uuid, kind text, keys text[])
  language sql security definer set search_path = '' as $$
  update public.announcements set taken_at = clock_timestamp()
  where announcements.id in (
    select a.id from public.announcements a
    where coalesce(a.taken_at, a.created_at) <= clock_timestamp() - min_age
    order by a.id limit most for update skip locked
  )
  returning announcements.id, announcements.workspace_id, announcements.kind, announcements.keys
$$;
revoke execute on function take_announcements from public;

create function finish_announcements(done bigint[]) returns void
  language sql security definer set search_path = '' as $$
  delete from public.announcements where id = any (done)
$$;
revoke execute on function finish_announcements from public;

grant execute on function take_announcements, finish_announcements to decision_runtime;
grant select (id), insert on announcements to decision_runtime;
`,
};
