import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { writeUnlessTaken } from '../connection/unique-violation';
import { isUuid } from '../connection/uuid';
import {
  type ObjectContentType,
  objectColumns,
  type ObjectRecord,
  type ObjectRow,
  toObjectRecord,
} from './object-record';
import { recordedObject } from './recorded-object';

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
    updated_at = greatest(clock_timestamp(), updated_at + interval '1 millisecond'), updated_by = app_actor()
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
