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
export interface ObjectRow {
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
export const objectColumns = 'id, name, content, content_type, parsed_fields, user_groups, created_at, updated_at';

export const toObjectRecord = (row: ObjectRow): ObjectRecord => ({
  id: row.id,
  name: row.name,
  content: row.content,
  contentType: row.content_type,
  parsedFields: row.parsed_fields,
  userGroups: row.user_groups,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});
