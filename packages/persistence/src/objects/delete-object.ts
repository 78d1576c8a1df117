import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { recordedObject } from './recorded-object';
import { objectColumns, type ObjectRow, toObjectRecord } from './object-record';

/** Fate of the values of a deleted object: `archive` archives them, `detach` keeps those active that are. */
export type ValueFate = 'archive' | 'detach';

type DeleteObjectOutcome =
  | {
      readonly status: 'deleted';
      readonly name: string;
      /** Values that are active still. */
      readonly detached: number;
      /** Values that are archived, those that were before too. */
      readonly archived: number;
    }
  | { readonly status: 'not_found' };

const LOCK = /* sql */ `select ${objectColumns} from workspace_objects where id = cast(:id as uuid) for update`;
const DELETE = /* sql */ `delete from workspace_objects where id = cast(:id as uuid)`;

/** Archived values remember what they were, see the migration; values that stay active become ordinary ones. */
const RELEASE = /* sql */ `
  with released as (
    update workspace_values
    set object_id = null,
      managed_path = case when :detach and archived_at is null then null else managed_path end,
      managed_member = case when :detach and archived_at is null then null else managed_member end,
      archived_at = case when :detach then archived_at else coalesce(archived_at, clock_timestamp()) end,
      updated_at = greatest(clock_timestamp(), updated_at + interval '1 millisecond'), updated_by = app_actor()
    where object_id = cast(:id as uuid)
    returning archived_at
  )
  select count(*) filter (where archived_at is null) as detached, count(archived_at) as archived from released`;

/** Deletes an object and lets its values go. */
export const deleteObject = async (
  transaction: Transaction,
  id: string,
  fate: ValueFate,
): Promise<DeleteObjectOutcome> => {
  if (!isUuid(id)) return { status: 'not_found' };
  const [locked] = await query<ObjectRow>(transaction, LOCK, { id });
  if (locked === undefined) return { status: 'not_found' };
  const [counts] = await query<{ detached: string; archived: string }>(transaction, RELEASE, {
    id,
    detach: fate === 'detach',
  });
  await query(transaction, DELETE, { id });
  const values = { detached: Number(counts?.detached ?? 0), archived: Number(counts?.archived ?? 0) };
  const object = toObjectRecord(locked);
  const { name, userGroups } = object;
  const before = { ...recordedObject(object), values };
  await recordChange(transaction, { kind: 'object', action: 'delete', id, name, userGroups, before });
  return { status: 'deleted', name, ...values };
};
