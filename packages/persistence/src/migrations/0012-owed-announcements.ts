import { type Migration } from './migration';

/** How much is owed, of all workspaces: for metrics, which are read on behalf of none. */
export const owedAnnouncements: Migration = {
  name: '0012-owed-announcements',
  sql: /* sql */ `
create function count_announcements() returns table (owed bigint, oldest_age_ms double precision)
  language sql stable security definer set search_path = '' as $$
  select
    -- No further than anybody has to see: it is asked for every other second.
    (select count(*) from (select from public.announcements limit 100000) as counted),
    cast(coalesce(greatest(extract(epoch from clock_timestamp() - (
      select announcements.created_at from public.announcements order by announcements.id limit 1
    )) * 1000, 0), 0) as double precision)
$$;
revoke execute on function count_announcements from public;
grant execute on function count_announcements to decision_runtime;
`,
};
