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
  readonly createdAt: string;
  readonly updatedAt: string;
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
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Select list of a {@link ValueRow}. */
export const valueColumns = [
  ...['id', 'name', 'type', 'content', 'metadata', 'user_groups', 'archived_at', 'created_at', 'updated_at'],
]
  .map((column) => `workspace_values.${column}`)
  .join(', ');

export const toValueRecord = (row: ValueRow): ValueRecord => ({
  id: row.id,
  name: row.name,
  type: row.type,
  content: row.content,
  metadata: row.metadata,
  userGroups: row.user_groups,
  archivedAt: row.archived_at?.toISOString() ?? null,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});
