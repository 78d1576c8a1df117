import { type Migration } from './migration';

/**
 * The log of decisions, a partition a day (docs/decision-logs.md). Whoever runs the services owns nothing: functions of the owner make, attach and
 * drop partitions, wait for locks briefly, and refuse days that are far away. There is no default partition, so that attaching one reads no rows.
 *
 * A restricted access sees decisions of assets that it sees; what was decided by an asset that is gone is seen without restriction alone.
 *
 * `decision_quarantine` holds messages that are no decisions as they are, for the operator: no access reads it.
 */
export const decisionLog: Migration = {
  name: '0030-decision-log',
  sql: /* sql */ `
create table decision_log (
  workspace_id uuid not null default app_workspace_id(),
  -- Arrival of the request.
  decided_at timestamptz(3) not null,
  -- Of a list all items have one id; it begins with the milliseconds of decided_at.
  id uuid not null,
  message_id text collate "C" not null,
  item integer not null,
  is_of_list boolean not null,
  -- Null where the version was gone when the record arrived.
  asset_id uuid,
  kind text collate "C" not null,
  slug text collate "C" not null,
  selector text collate "C" not null,
  version_id text collate "C" not null,
  -- Of a run within an operation on an instance: the context that its asset is bound to.
  context_slug text collate "C",
  key_id text collate "C" not null,
  request_id text collate "C" not null,
  trace_id text collate "C",
  execution_id text collate "C",
  status smallint not null,
  error_code text collate "C",
  duration_us bigint not null,
  matched integer[] not null,
  path_trace jsonb,
  request jsonb not null,
  response jsonb not null,
  worker text not null,
  is_altered boolean not null,
  -- Of request, response and path_trace, as they came.
  characters bigint not null,
  stored_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, decided_at, id, message_id, item)
) partition by range (decided_at);
create index decision_log_by_asset on decision_log (workspace_id, kind, slug, decided_at, id);
create index decision_log_by_trace on decision_log (workspace_id, trace_id, decided_at) where trace_id is not null;
create index decision_log_by_execution on decision_log (workspace_id, execution_id) where execution_id is not null;

alter table decision_log enable row level security, force row level security;
create policy read_own on decision_log for select using (
  workspace_id = app_workspace_id()
  and ((select app_is_unrestricted()) or asset_id in (select assets.id from assets))
);
create policy add_own on decision_log for insert with check (workspace_id = app_workspace_id());
grant select, insert on decision_log to decision_runtime;

create table decision_quarantine (
  topic text collate "C" not null,
  topic_partition integer not null,
  topic_offset bigint not null,
  -- A topic that was made anew counts from 0 again.
  digest bytea not null,
  reason text not null,
  detail text not null,
  bytes bigint not null,
  -- The first MiB.
  payload bytea not null,
  arrived_at timestamptz(3) not null default clock_timestamp(),
  primary key (topic, topic_partition, topic_offset, digest)
);
create index decision_quarantine_by_age on decision_quarantine (arrived_at);
alter table decision_quarantine enable row level security, force row level security;
create policy of_owner on decision_quarantine to current_user using (true);

create function quarantine_decisions(
  topics text[], partitions integer[], offsets bigint[], digests bytea[], reasons text[], details text[], sizes bigint[], payloads bytea[]
) returns void
  language sql security definer set search_path = '' as $$
  insert into public.decision_quarantine (topic, topic_partition, topic_offset, digest, reason, detail, bytes, payload)
  select * from unnest(topics, partitions, offsets, digests, reasons, details, sizes, payloads)
  on conflict do nothing
$$;
revoke execute on function quarantine_decisions from public;
grant execute on function quarantine_decisions to decision_runtime;

create function forget_quarantined_decisions(age interval, most integer) returns bigint
  language sql security definer set search_path = '' as $$
  with old as (
    delete from public.decision_quarantine q
    where (q.topic, q.topic_partition, q.topic_offset, q.digest) in (
      select o.topic, o.topic_partition, o.topic_offset, o.digest from public.decision_quarantine o
      where o.arrived_at <= clock_timestamp() - age order by o.arrived_at limit most
    )
    returning 1
  )
  select count(*) from old
$$;
revoke execute on function forget_quarantined_decisions from public;
grant execute on function forget_quarantined_decisions to decision_runtime;

-- The days that have a partition.
create function decision_log_days() returns table (day date)
  language sql stable security definer set search_path = '' as $$
  select cast(right(c.relname, 8) as date)
  from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid
  where i.inhparent = cast('public.decision_log' as pg_catalog.regclass)
$$;
revoke execute on function decision_log_days from public;
grant execute on function decision_log_days to decision_runtime;

-- Makes the partition of a day (UTC) where it is missing; answers whether it did.
create function make_decision_log_day(day date) returns boolean
  language plpgsql security definer set search_path = '' set lock_timeout = '500ms' as $$
declare
  name text := 'decision_log_' || pg_catalog.to_char(day, 'YYYYMMDD');
  today date := pg_catalog.timezone('UTC', pg_catalog.clock_timestamp());
begin
  if day < today - 4000 or day > today + 8 then
    raise exception 'no partition is made for %', day using errcode = 'invalid_parameter_value';
  end if;
  -- One at a time makes partitions.
  perform pg_catalog.pg_advisory_xact_lock(3737929472);
  if pg_catalog.to_regclass('public.' || name) is not null then
    return false;
  end if;
  execute pg_catalog.format('create table public.%I (like public.decision_log including defaults including constraints)', name);
  execute pg_catalog.format('alter table public.%I enable row level security, force row level security', name);
  execute pg_catalog.format('alter table public.decision_log attach partition public.%I for values from (%L) to (%L)',
    name, pg_catalog.to_char(day, 'YYYY-MM-DD 00:00:00+00'), pg_catalog.to_char(day + 1, 'YYYY-MM-DD 00:00:00+00'));
  return true;
end $$;
revoke execute on function make_decision_log_day from public;
grant execute on function make_decision_log_day to decision_runtime;

-- Drops the oldest partition that ends before a day, which is yesterday at the latest; answers the day that it held, null where there is none.
create function drop_decision_log_day(before date) returns date
  language plpgsql security definer set search_path = '' set lock_timeout = '500ms' as $$
declare
  oldest date;
begin
  select d.day into oldest from public.decision_log_days() d where d.day < least(before, cast(pg_catalog.timezone('UTC', pg_catalog.clock_timestamp()) as date) - 1) order by d.day limit 1;
  if oldest is not null then
    execute pg_catalog.format('drop table public.%I', 'decision_log_' || pg_catalog.to_char(oldest, 'YYYYMMDD'));
  end if;
  return oldest;
end $$;
revoke execute on function drop_decision_log_day from public;
grant execute on function drop_decision_log_day to decision_runtime;
`,
};
