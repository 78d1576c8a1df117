import { recordChange } from '../audit/record-change';
import { changedNow } from '../connection/changed-now';
import { query, type Transaction } from '../connection/query';
import { writeUnlessTaken } from '../connection/unique-violation';
import { isUuid } from '../connection/uuid';
import { entriesToRead, type PageRequest, startOfPage, takePage } from '../paging/page';

/** Kind of an object's content. */
export type ObjectContentType = 'json_schema' | 'json_object';

/** An object of the workspace. Times are ISO 8601 UTC with milliseconds. */
export interface ObjectRecord {
  readonly id: string;
  readonly name: string;
  /** JSON text, as it was given. */
  readonly content: string;
  readonly contentType: ObjectContentType;
  /** Fields that were read from the content; the caller defines their shape. */
  readonly parsedFields: readonly unknown[];
  /** Empty: an access that is restricted to groups does not see it. */
  readonly userGroups: readonly string[];
  readonly createdAt: string;
  /** Strictly later with each change. */
  readonly updatedAt: string;
}

/** The columns behind {@link ObjectRecord}. */
interface ObjectRow {
  readonly id: string;
  readonly name: string;
  readonly content: string;
  readonly content_type: ObjectContentType;
  readonly parsed_fields: readonly unknown[];
  readonly user_groups: string[];
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Select list of an {@link ObjectRow}. */
const objectColumns = 'id, name, content, content_type, parsed_fields, user_groups, created_at, updated_at';

const toObjectRecord = (row: ObjectRow): ObjectRecord => ({
  id: row.id,
  name: row.name,
  content: row.content,
  contentType: row.content_type,
  parsedFields: row.parsed_fields,
  userGroups: row.user_groups,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

/** A larger content is recorded by its size and hash alone, so it need not be read. Characters. */
const MAX_READ_LENGTH = 64 * 1024;

/**
 * An object as the audit has it: its content is a document, so that secrets in it are masked by the names of their fields. What was read from
 * the content is left out.
 */
const recordedObject = ({ content, parsedFields: _read, ...object }: ObjectRecord): object => ({
  ...object,
  content: content.length > MAX_READ_LENGTH ? content : readJson(content),
});

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

/** Whether the object is only read, or kept from other writers until the transaction ends. */
type ObjectPurpose = 'read' | 'change';

const LOCKS: Readonly<Record<ObjectPurpose, string>> = { read: '', change: 'for update' };

/**
 * The object, undefined where it does not exist or is not visible. A caller that writes what it does not change back as it was found must
 * find it for `change`: otherwise it undoes what another writer commits in between.
 */
export const findObject = async (
  transaction: Transaction,
  object: ObjectName,
  purpose: ObjectPurpose = 'read',
): Promise<ObjectRecord | undefined> => {
  if ('id' in object && !isUuid(object.id)) return undefined;
  const [row] = await ('id' in object
    ? query<ObjectRow>(transaction, `${BY_ID} ${LOCKS[purpose]}`, { id: object.id })
    : query<ObjectRow>(transaction, `${BY_NAME} ${LOCKS[purpose]}`, { name: object.name }));
  return row && toObjectRecord(row);
};

interface ObjectList {
  readonly objects: readonly ObjectRecord[];
  /** Null on the last page, and where no page was asked for. */
  readonly nextCursor: string | null;
}

/** The objects that are visible, newest first: all of them, or one page. Throws `invalid_request` for a bad cursor. */
export const listObjects = async (transaction: Transaction, page?: PageRequest): Promise<ObjectList> => {
  const start = startOfPage(page?.cursor, 'workspace_objects');
  const rows = await query<ObjectRow>(
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
export interface ObjectFields {
  readonly id: string;
  readonly name: string;
  /** Fields that were read from the content; the caller defines their shape. */
  readonly parsedFields: readonly unknown[];
}

/** Which objects are meant. */
interface ObjectNames {
  readonly ids: Iterable<string>;
  readonly names: Iterable<string>;
}

const FIND = /* sql */ `
  select id, name, parsed_fields from workspace_objects
  where id = any (cast(:ids as uuid[])) or name = any (cast(:names as text[]))
  order by name`;

/** The fields of those of these objects that are visible. */
export const findObjectFields = async (
  transaction: Transaction,
  { ids, names }: ObjectNames,
): Promise<readonly ObjectFields[]> => {
  const wanted = { ids: [...ids].filter(isUuid), names: [...names] };
  if (wanted.ids.length + wanted.names.length === 0) return [];
  const rows = await query<{ id: string; name: string; parsed_fields: unknown[] }>(transaction, FIND, wanted);
  return rows.map(({ id, name, parsed_fields: parsedFields }) => ({ id, name, parsedFields }));
};

/** An object as it is to be. */
export interface SavedObject {
  readonly name: string;
  readonly content: string;
  readonly contentType: ObjectContentType;
  readonly parsedFields: readonly unknown[];
  /** A restricted access must name groups of its own, at least one; those that the object has may stay. */
  readonly userGroups: readonly string[];
}

interface UpdateObjectConditions {
  /** ISO 8601 with milliseconds: the `updatedAt` that the caller has seen. */
  readonly expectedUpdatedAt?: string | undefined;
}

type InsertObjectOutcome =
  | { readonly status: 'inserted'; readonly object: ObjectRecord }
  /** Another object, perhaps a hidden one, has the name. */
  | { readonly status: 'name_taken' };

type UpdateObjectOutcome =
  | { readonly status: 'updated'; readonly object: ObjectRecord }
  | { readonly status: 'name_taken' }
  /** The object is gone, hidden, or not as the caller has seen it. */
  | { readonly status: 'not_as_expected' };

const INSERT = /* sql */ `
  insert into workspace_objects (name, content, content_type, parsed_fields, user_groups, created_at, updated_at)
  select :name, :content, :content_type, cast(:parsed_fields as json), cast(:user_groups as text[]), moment, moment
  from clock_timestamp() as moment
  returning ${objectColumns}`;

const LOCK = /* sql */ `select ${objectColumns} from workspace_objects where id = cast(:id as uuid) for update`;

/** The condition is part of the statement: of two writers who have seen the same, the second finds the row changed. */
const UPDATE = /* sql */ `
  update workspace_objects
  set name = :name, content = :content, content_type = :content_type, parsed_fields = cast(:parsed_fields as json),
    user_groups = cast(:user_groups as text[]),
    ${changedNow()}, updated_by = app_actor()
  where id = cast(:id as uuid) and updated_at = coalesce(cast(:expected as timestamptz(3)), updated_at)
  returning ${objectColumns}`;

const bindingsOf = ({ name, content, contentType, parsedFields, userGroups }: SavedObject) => ({
  name,
  content,
  content_type: contentType,
  parsed_fields: JSON.stringify(parsedFields),
  user_groups: userGroups,
});

/** Throws `forbidden` as {@link SavedObject} says. */
export const insertObject = async (transaction: Transaction, object: SavedObject): Promise<InsertObjectOutcome> => {
  const written = await writeUnlessTaken(transaction, (savepoint) =>
    query<ObjectRow>(savepoint, INSERT, bindingsOf(object)),
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
  const [locked] = await query<ObjectRow>(transaction, LOCK, { id });
  if (locked === undefined) return { status: 'not_as_expected' };
  const written = await writeUnlessTaken(transaction, (savepoint) =>
    query<ObjectRow>(savepoint, UPDATE, { ...bindingsOf(object), id, expected: expectedUpdatedAt ?? null }),
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

const DELETE = /* sql */ `delete from workspace_objects where id = cast(:id as uuid)`;

/** Archived values remember what they were, see the migration; values that stay active become ordinary ones. */
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
