import { query, type Transaction } from '../../connection/query';

/** A member of a collection that a synchronisation did not bring. */
export interface AbsentMember {
  readonly id: string;
  readonly name: string;
  readonly archived: boolean;
}

/** Members that were sent: by the chunks of a run, or by one request alone. */
export type PresentMembers = { readonly sync: string } | { readonly names: readonly string[] };

const PRESENT = {
  run: 'value_sync_members as present where sync = cast(:sync as uuid)',
  request: 'unnest(cast(:names as text[])) as present (name) where true',
} as const;

/** As an anti-join: `not in` would compare each member with each present name once these outgrow the memory of one query. */
const absentIn = (present: string): string => /* sql */ `
  select id, name, archived_at is not null as archived from workspace_values
  where starts_with(name, :beginning) and object_id is null
    and not exists (select from ${present} and present.name = workspace_values.name)
  order by name for update of workspace_values`;

/** The visible members that were not brought, archived ones too, by name. Values that objects generate are none of the collection's. */
export const findAbsentMembers = (
  transaction: Transaction,
  collection: string,
  present: PresentMembers,
): Promise<readonly AbsentMember[]> => {
  const beginning = `${collection}.`;
  return 'sync' in present
    ? query<AbsentMember>(transaction, absentIn(PRESENT.run), { beginning, sync: present.sync })
    : query<AbsentMember>(transaction, absentIn(PRESENT.request), { beginning, names: present.names });
};

const ARCHIVE = /* sql */ `
  update workspace_values
  set archived_at = clock_timestamp(), updated_at = greatest(clock_timestamp(), updated_at + interval '1 millisecond'),
    updated_by = app_actor()
  where id = any (cast(:ids as uuid[])) and archived_at is null`;

const DELETE = /* sql */ `delete from workspace_values where id = any (cast(:ids as uuid[]))`;

/** The caller has locked them, and records it with `recordSync`. */
export const archiveValues = async (transaction: Transaction, ids: readonly string[]): Promise<void> => {
  if (ids.length > 0) await query(transaction, ARCHIVE, { ids });
};

/** The caller has locked them, made sure that nothing uses them, and records it with `recordSync`. */
export const deleteValues = async (transaction: Transaction, ids: readonly string[]): Promise<void> => {
  if (ids.length > 0) await query(transaction, DELETE, { ids });
};
