import { type Migration } from './migration';

/**
 * Where a decision was made, beside what was decided: instance and flow, how many requests a record stands for, and which messages of which process
 * were seen (docs/adr/0051-messages-of-producers-are-numbered.md). Messages are noted by the minute, so that what is missing has a time.
 */
export const decisionLogPlaces: Migration = {
  name: '0031-decision-log-places',
  sql: /* sql */ `
alter table decision_log add column instance text collate "C";
alter table decision_log add column flow_slug text collate "C";
alter table decision_log add column stands_for integer not null default 1;
alter table decision_log add column is_cut boolean not null default false;

create table decision_sequences (
  -- Of no workspace in particular that is still there: what is told of one that is gone must not stop the rest.
  workspace_id uuid not null default app_workspace_id(),
  producer text collate "C" not null,
  -- Of the requests, or of a report of the producer.
  minute timestamptz(0) not null,
  -- Numbers of messages that have arrived.
  seen int8multirange not null,
  -- How many messages the producer had numbered.
  next bigint not null,
  -- Whether it has said that it writes no more.
  ended boolean not null,
  primary key (workspace_id, producer, minute)
);
create index decision_sequences_by_age on decision_sequences (minute);
alter table decision_sequences enable row level security, force row level security;
create policy in_workspace on decision_sequences using (workspace_id = app_workspace_id() and (select app_is_unrestricted()));
create policy of_owner on decision_sequences to current_user using (true);
grant select, insert, update (seen, next, ended) on decision_sequences to decision_runtime;

create function forget_decision_sequences(before timestamptz, most integer) returns bigint
  language sql security definer set search_path = '' as $$
  with old as (
    delete from public.decision_sequences s where s.ctid in (
      select o.ctid from public.decision_sequences o where o.minute < before order by o.minute limit most
    )
    returning 1
  )
  select count(*) from old
$$;
revoke execute on function forget_decision_sequences from public;
grant execute on function forget_decision_sequences to decision_runtime;
`,
};
