import { type ValueType } from '@decision/contracts';

/** A value of the workspace. Times are ISO 8601 UTC with milliseconds. */
export interface ValueRecord {
  readonly id: string;
  readonly name: string;
  readonly type: ValueType;
  /** For a function its parameters and formula. */
  readonly content: unknown;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Empty: an access that is restricted to groups does not see it. */
  readonly userGroups: readonly string[];
  /** Null while it is active. */
  readonly archivedAt: string | null;
  /** The object that generates it, and alone may change it; null for values written by hand. */
  readonly managedBy: ManagingObject | null;
  /** Ids of the values to which the list refers. */
  readonly refersTo: readonly string[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** An object as its values know it. */
export interface ManagingObject {
  readonly id: string;
  readonly name: string;
}

/** The columns behind {@link ValueRecord}. */
export interface ValueRow {
  readonly id: string;
  readonly name: string;
  readonly type: ValueType;
  readonly content: unknown;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly user_groups: string[];
  readonly archived_at: Date | null;
  readonly object_id: string | null;
  readonly refers_to: string[];
  readonly object_name: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const OWN_COLUMNS = [
  'id',
  'name',
  'type',
  'content',
  'metadata',
  'user_groups',
  'archived_at',
  'object_id',
  'refers_to',
  'created_at',
  'updated_at',
];

/** The name of the object behind `object_id`, visible to everybody who sees the value. */
export const objectName = /* sql */ `
  (select workspace_objects.name from workspace_objects where workspace_objects.id = workspace_values.object_id) as object_name`;

/** Select list of a {@link ValueRow}. */
export const valueColumns = [...OWN_COLUMNS.map((column) => `workspace_values.${column}`), objectName].join(', ');

export const toValueRecord = (row: ValueRow): ValueRecord => ({
  id: row.id,
  name: row.name,
  type: row.type,
  content: row.content,
  metadata: row.metadata,
  userGroups: row.user_groups,
  archivedAt: row.archived_at?.toISOString() ?? null,
  managedBy: row.object_id === null ? null : { id: row.object_id, name: row.object_name ?? '' },
  refersTo: row.refers_to,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});
