import {
  objectFields,
  type ObjectRecord,
  recordName,
  type ResourceField,
  type SavedObject,
  toAudited,
} from '@decision/contracts';
import { recordChange } from '../audit/record-change';
import { changedNow } from '../connection/changed-now';
import { type Bindings, query, type Transaction } from '../connection/query';
import { writeUnlessTaken } from '../connection/unique-violation';
import { isUuid } from '../connection/uuid';
import { entriesToRead, type PageRequest, startOfPage, takePage } from '../paging/page';
import { type DescribedRow, describeTable, storedType, toStored } from '../resources/described-table';

const { columns: objectColumns, toRecord: toObjectRecord } = describeTable('workspace_objects', objectFields);

/** A larger content is recorded only by its size and hash, so it need not be read. Characters. */
const MAX_READ_LENGTH = 64 * 1024;

/**
 * An object in the form of the audit: its content is a document, so that secrets in it are masked by the names of their fields. Data
 * derived from the content is left out.
 */
const recordedObject = (object: ObjectRecord): object => {
  const { content } = object;
  return {
    ...toAudited(objectFields, object),
    content: content.length > MAX_READ_LENGTH ? content : readJson(content),
  };
};

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};

/** One object by its id or its exact name. */
type ObjectName = { readonly id: string } | { readonly name: string };

const BY_ID = /* sql */ `select ${objectColumns} from workspace_objects where id = cast(:id as uuid)`;
const BY_NAME = /* sql */ `select ${objectColumns} from workspace_objects where name = :name`;

/** Whether the object is only read, or locked against other writers until the transaction ends. */
type ObjectPurpose = 'read' | 'change';

const LOCKS: Readonly<Record<ObjectPurpose, string>> = { read: '', change: 'for update' };

/**
 * The object; undefined if it does not exist or is not visible. A caller that writes unchanged parts back must find it for `change`:
 * otherwise it reverts changes that another writer commits in between.
 */
export const findObject = async (
  transaction: Transaction,
  object: ObjectName,
  purpose: ObjectPurpose = 'read',
): Promise<ObjectRecord | undefined> => {
  if ('id' in object && !isUuid(object.id)) return undefined;
  const [row] = await ('id' in object
    ? query<DescribedRow>(transaction, `${BY_ID} ${LOCKS[purpose]}`, { id: object.id })
    : query<DescribedRow>(transaction, `${BY_NAME} ${LOCKS[purpose]}`, { name: object.name }));
  return row && toObjectRecord(row);
};

interface ObjectList {
  readonly objects: readonly ObjectRecord[];
  /** Null on the last page, and if no page was requested. */
  readonly nextCursor: string | null;
}

/** The visible objects, newest first: all of them, or one page. Throws `invalid_request` for a bad cursor. */
export const listObjects = async (transaction: Transaction, page?: PageRequest): Promise<ObjectList> => {
  const start = startOfPage(page?.cursor, 'workspace_objects');
  const rows = await query<DescribedRow>(
    transaction,
    /* sql */ `
    select ${objectColumns} from workspace_objects where ${start.condition}
    order by created_at desc, id desc
    limit ${page ? ':limit' : 'all'}`,
    { ...start.bindings, limit: page ? entriesToRead(page) : null },
  );
  const objects = rows.map(toObjectRecord);
  if (page === undefined) return { objects, nextCursor: null };
  const { entries, nextCursor } = takePage(objects, page);
  return { objects: entries, nextCursor };
};

/** Fields of an object, without its content. */
export type ObjectFields = Pick<ObjectRecord, 'id' | 'name' | 'parsedFields'>;

/** Selects objects. */
interface ObjectNames {
  readonly ids: Iterable<string>;
  readonly names: Iterable<string>;
}

const FIND = /* sql */ `
  select id, name, parsed_fields as "parsedFields" from workspace_objects
  where id = any (cast(:ids as uuid[])) or name = any (cast(:names as text[]))
  order by name`;

/** The fields of the visible objects among these. */
export const findObjectFields = async (
  transaction: Transaction,
  { ids, names }: ObjectNames,
): Promise<readonly ObjectFields[]> => {
  const wanted = { ids: [...ids].filter(isUuid), names: [...names] };
  if (wanted.ids.length + wanted.names.length === 0) return [];
  return query<ObjectFields>(transaction, FIND, wanted);
};

interface UpdateObjectConditions {
  /** ISO 8601 with milliseconds: the `updatedAt` that the caller has read. */
  readonly expectedUpdatedAt?: string | undefined;
}

type InsertObjectOutcome =
  | { readonly status: 'inserted'; readonly object: ObjectRecord }
  /** Another object, perhaps a hidden one, has the name. */
  | { readonly status: 'name_taken' };

type UpdateObjectOutcome =
  | { readonly status: 'updated'; readonly object: ObjectRecord }
  | { readonly status: 'name_taken' }
  /** The object is deleted, hidden, or differs from the one that the caller has read. */
  | { readonly status: 'not_as_expected' };

const saved = Object.entries<ResourceField & { readonly saved: boolean }>(objectFields).filter(
  ([, field]) => field.saved,
);
const savedColumns = saved.map(([column, field]) => ({ column, value: `cast(:${column} as ${storedType(field)})` }));

const INSERT = /* sql */ `
  insert into workspace_objects (${savedColumns.map(({ column }) => column).join(', ')}, created_at, updated_at)
  select ${savedColumns.map(({ value }) => value).join(', ')}, moment, moment
  from clock_timestamp() as moment
  returning ${objectColumns}`;

const LOCK = /* sql */ `select ${objectColumns} from workspace_objects where id = cast(:id as uuid) for update`;

/** The condition is part of the statement: if two writers have read the same state, the second finds the row changed. */
const UPDATE = /* sql */ `
  update workspace_objects
  set ${savedColumns.map(({ column, value }) => `${column} = ${value}`).join(', ')},
    ${changedNow()}, updated_by = app_actor()
  where id = cast(:id as uuid) and updated_at = coalesce(cast(:expected as timestamptz(3)), updated_at)
  returning ${objectColumns}`;

const bindingsOf = (object: SavedObject): Bindings => {
  const parts: Readonly<Record<string, unknown>> = { ...object };
  return Object.fromEntries(saved.map(([column, field]) => [column, toStored(field, parts[recordName(column)])]));
};

/** Throws `forbidden` as {@link SavedObject} says. */
export const insertObject = async (transaction: Transaction, object: SavedObject): Promise<InsertObjectOutcome> => {
  const written = await writeUnlessTaken(transaction, (savepoint) =>
    query<DescribedRow>(savepoint, INSERT, bindingsOf(object)),
  );
  const [row] = written.status === 'written' ? written.value : [];
  if (row === undefined) return { status: 'name_taken' };
  const inserted = toObjectRecord(row);
  const { id, name, userGroups } = inserted;
  await recordChange(transaction, {
    kind: 'object',
    action: 'create',
    id,
    name,
    userGroups,
    after: recordedObject(inserted),
  });
  return { status: 'inserted', object: inserted };
};

/** Throws `forbidden` as {@link SavedObject} says. */
export const updateObject = async (
  transaction: Transaction,
  id: string,
  object: SavedObject,
  { expectedUpdatedAt }: UpdateObjectConditions = {},
): Promise<UpdateObjectOutcome> => {
  if (!isUuid(id)) return { status: 'not_as_expected' };
  const [locked] = await query<DescribedRow>(transaction, LOCK, { id });
  if (locked === undefined) return { status: 'not_as_expected' };
  const written = await writeUnlessTaken(transaction, (savepoint) =>
    query<DescribedRow>(savepoint, UPDATE, { ...bindingsOf(object), id, expected: expectedUpdatedAt ?? null }),
  );
  if (written.status === 'taken') return { status: 'name_taken' };
  const [row] = written.value;
  if (row === undefined) return { status: 'not_as_expected' };
  const updated = toObjectRecord(row);
  const [before, after] = [toObjectRecord(locked), updated].map(recordedObject);
  const { name, userGroups } = updated;
  await recordChange(transaction, { kind: 'object', action: 'update', id, name, userGroups, before, after });
  return { status: 'updated', object: updated };
};

/** Fate of the values of a deleted object: `archive` archives them, `detach` keeps active ones active. */
export type ValueFate = 'archive' | 'detach';

type DeleteObjectOutcome =
  | {
      readonly status: 'deleted';
      readonly name: string;
      /** Values that are still active. */
      readonly detached: number;
      /** Values that are archived, including those that were before. */
      readonly archived: number;
    }
  | { readonly status: 'not_found' };

const DELETE = /* sql */ `delete from workspace_objects where id = cast(:id as uuid)`;

/** Archived values remember their origin, see the migration; values that stay active become ordinary ones. */
const RELEASE = /* sql */ `
  with released as (
    update workspace_values
    set object_id = null,
      managed_path = case when :detach and archived_at is null then null else managed_path end,
      managed_member = case when :detach and archived_at is null then null else managed_member end,
      archived_at = case when :detach then archived_at else coalesce(archived_at, clock_timestamp()) end,
      ${changedNow()}, updated_by = app_actor()
    where object_id = cast(:id as uuid)
    returning archived_at
  )
  select count(*) filter (where archived_at is null) as detached, count(archived_at) as archived from released`;

/** Deletes an object and releases its values. */
export const deleteObject = async (
  transaction: Transaction,
  id: string,
  fate: ValueFate,
): Promise<DeleteObjectOutcome> => {
  if (!isUuid(id)) return { status: 'not_found' };
  const [locked] = await query<DescribedRow>(transaction, LOCK, { id });
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
