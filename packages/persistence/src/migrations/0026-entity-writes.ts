import { type Migration } from './migration';

/**
 * What nodes of flows write to instances. `entity_writes` holds the key of each write with what it merged or deleted, in one commit with it, so that
 * a step that runs again writes nothing twice; rows are of no use once nobody repeats the step, and upkeep takes them away.
 *
 * An operation that a node of a flow began is a part of the operation that runs the flow: its parent, which cannot end before it. A ticket says for
 * which operation somebody waits. So circles of operations that wait for each other are found, and the one whose first operation began last gives way.
 */
export const entityWrites: Migration = {
  name: '0026-entity-writes',
  sql: /* sql */ `
create table entity_writes (
  workspace_id uuid not null default app_workspace_id() references workspaces (id) on delete cascade,
  key text collate "C" not null,
  -- The context may be gone: it is not referred to, so that removing one stays a matter of bounded steps.
  context_id uuid not null,
  instance_id text collate "C" not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (workspace_id, key, context_id, instance_id)
);
create index entity_writes_by_age on entity_writes (created_at);
alter table entity_writes enable row level security, force row level security;
create policy in_workspace on entity_writes using (workspace_id = app_workspace_id() and app_sees_context(context_id));
create policy of_owner on entity_writes to current_user using (true);
grant select, insert on entity_writes to decision_runtime;

create function forget_entity_writes(age interval, most integer) returns bigint
  language sql security definer set search_path = '' as $$
  with old as (
    delete from public.entity_writes w
    where (w.workspace_id, w.key, w.context_id, w.instance_id) in (
      select o.workspace_id, o.key, o.context_id, o.instance_id from public.entity_writes o
      where o.created_at <= clock_timestamp() - age order by o.created_at limit most for update skip locked
    )
    returning 1
  )
  select count(*) from old
$$;
revoke execute on function forget_entity_writes from public;
grant execute on function forget_entity_writes to decision_runtime;

alter table context_operations
  add column parent_id uuid,
  -- The first of the operations that this one is a part of; null: itself.
  add column root_id uuid,
  -- When that one was admitted.
  add column root_began_at timestamptz not null default clock_timestamp();
create index context_operations_of_parent on context_operations (parent_id) where parent_id is not null;

alter table context_tickets add column for_operation uuid;
create index context_tickets_for_operation on context_tickets (for_operation) where for_operation is not null;
`,
};
