import { type Migration } from './migration';

/**
 * Notifications of flows, written together with the result that asks for them and sent afterwards, at least once (docs/adr/0044). A workspace adds
 * to its own; workers take those of all workspaces, by functions alone. What is sent is gone from its row once it was; the row stays for a while, so
 * that the same step that runs again writes nothing.
 */
export const notifications: Migration = {
  name: '0028-notifications',
  sql: /* sql */ `
create table notifications (
  workspace_id uuid not null default app_workspace_id() references workspaces (id) on delete cascade,
  -- The same whenever the same step of a flow runs again.
  id text not null check (length(id) between 1 and 100),
  channel text not null check (channel in ('webhook', 'email', 'slack')),
  -- JSON; null once it is sent.
  content text,
  state text not null default 'waiting' check (state in ('waiting', 'sent', 'failed')),
  attempts integer not null default 0,
  -- When it may be taken: after the lease of the attempt that is under way, or after the pause before the next.
  due_at timestamptz(3) not null default clock_timestamp(),
  created_at timestamptz(3) not null default clock_timestamp(),
  ended_at timestamptz(3),
  -- Why the last attempt failed, without content.
  error text,
  primary key (workspace_id, id)
);
create index notifications_due on notifications (workspace_id, due_at) where state = 'waiting';
create index notifications_oldest on notifications (created_at) where state = 'waiting';
create index notifications_ended on notifications (state, ended_at) where state <> 'waiting';
alter table notifications enable row level security, force row level security;
create policy in_workspace on notifications using (workspace_id = app_workspace_id());
create policy of_owner on notifications to current_user using (true);
grant select (workspace_id, id, state), insert (id, channel, content) on notifications to decision_runtime;

-- Takes what is due, of workspaces in turns: at most share of each, and nothing of those that are busy.
create function take_notifications(lease interval, most integer, share integer, busy uuid[])
  returns table (workspace_id uuid, id text, channel text, content text, attempts integer)
  language sql security definer set search_path = '' as $$
  with recursive active (workspace_id) as (
    (select n.workspace_id from public.notifications n where n.state = 'waiting' order by n.workspace_id limit 1)
    union all
    select (
      select n.workspace_id from public.notifications n
      where n.state = 'waiting' and n.workspace_id > a.workspace_id order by n.workspace_id limit 1
    )
    from active a where a.workspace_id is not null
  ), due as (
    select d.workspace_id, d.id
    from (select a.workspace_id from active a where a.workspace_id <> all (busy) order by random()) a
    cross join lateral (
      select n.workspace_id, n.id from public.notifications n
      where n.workspace_id = a.workspace_id and n.state = 'waiting' and n.due_at <= clock_timestamp()
      order by n.due_at limit share for update skip locked
    ) d
    limit most
  )
  update public.notifications n set attempts = n.attempts + 1, due_at = clock_timestamp() + lease
  from due where n.workspace_id = due.workspace_id and n.id = due.id
  returning n.workspace_id, n.id, n.channel, n.content, n.attempts
$$;
revoke execute on function take_notifications from public;
grant execute on function take_notifications to decision_runtime;

-- What became of an attempt. What was sent is sent, whoever took it since; another outcome counts only for the last attempt.
create function end_notification(workspace uuid, notification text, attempt integer, outcome text, reason text, pause interval) returns void
  language sql security definer set search_path = '' as $$
  update public.notifications n set
    state = case outcome when 'again' then 'waiting' else outcome end,
    content = case outcome when 'sent' then null else n.content end,
    error = reason,
    due_at = clock_timestamp() + coalesce(pause, interval '0'),
    ended_at = case outcome when 'again' then null else clock_timestamp() end
  where n.workspace_id = workspace and n.id = notification and n.state = 'waiting' and (outcome = 'sent' or n.attempts = attempt)
$$;
revoke execute on function end_notification from public;
grant execute on function end_notification to decision_runtime;

create function purge_notifications(keep_sent interval, keep_failed interval, most integer) returns integer
  language sql security definer set search_path = '' as $$
  with ended as (
    select n.ctid from public.notifications n
    where (n.state = 'sent' and n.ended_at < clock_timestamp() - keep_sent)
      or (n.state = 'failed' and n.ended_at < clock_timestamp() - keep_failed)
    limit most for update skip locked
  ), gone as (
    delete from public.notifications n using ended where n.ctid = ended.ctid returning 1
  )
  select cast(count(*) as integer) from gone
$$;
revoke execute on function purge_notifications from public;
grant execute on function purge_notifications to decision_runtime;

-- No further than anybody has to see: it is asked for every few seconds.
create function count_notifications() returns table (waiting bigint, failed bigint, oldest_age_ms double precision)
  language sql stable security definer set search_path = '' as $$
  select
    (select count(*) from (select from public.notifications n where n.state = 'waiting' limit 100000) as counted),
    (select count(*) from (select from public.notifications n where n.state = 'failed' limit 100000) as counted),
    cast(coalesce(greatest(extract(epoch from clock_timestamp() - (
      select n.created_at from public.notifications n where n.state = 'waiting' order by n.created_at limit 1
    )) * 1000, 0), 0) as double precision)
$$;
revoke execute on function count_notifications from public;
grant execute on function count_notifications to decision_runtime;

-- Failed ones are tried again from the beginning: of one workspace, or of all where it is null.
create function retry_notifications(workspace uuid) returns integer language sql set search_path = '' as $$
  with again as (
    update public.notifications n set state = 'waiting', attempts = 0, due_at = clock_timestamp(), ended_at = null
    where n.state = 'failed' and (workspace is null or n.workspace_id = workspace)
    returning 1
  )
  select cast(count(*) as integer) from again
$$;
revoke execute on function retry_notifications from public;
`,
};
