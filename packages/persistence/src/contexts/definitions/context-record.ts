import { type ContextSchema, type RelationType, type SchemaMismatchPolicy } from '@decision/contracts';
import { type Change } from '../../audit/change';

/** A context without what the database adds to it. */
export interface ContextSettings {
  readonly name: string;
  readonly description: string | null;
  readonly schema: ContextSchema;
  readonly identityFact: string;
  readonly autoExecuteDecisions: boolean;
  /** Null: instances never expire. */
  readonly ttlSeconds: number | null;
  readonly historyLimit: number;
  readonly onSchemaMismatch: SchemaMismatchPolicy;
  readonly sourceObjects: readonly string[];
  /** Empty: an access that is restricted to groups does not see it. */
  readonly userGroups: readonly string[];
  /** A folder of the workspace; null where it lies in none. */
  readonly folderId: string | null;
}

/** A context as it is stored. Times are ISO 8601 UTC with milliseconds. */
export interface ContextRecord extends ContextSettings {
  readonly id: string;
  readonly slug: string;
  readonly folderName: string | null;
  readonly createdAt: string;
  /** Strictly later with each change. */
  readonly updatedAt: string;
}

/** A relationship between two contexts. */
export interface RelationshipRecord {
  readonly id: string;
  readonly fromContextId: string;
  readonly toContextId: string;
  readonly name: string;
  readonly type: RelationType;
  readonly foreignKeyFact: string;
  readonly description: string | null;
  readonly createdAt: string;
}

export interface ContextRow {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  readonly schema: ContextSchema;
  readonly identity_fact: string;
  readonly auto_execute_decisions: boolean;
  readonly ttl_seconds: number | null;
  readonly history_limit: number;
  readonly on_schema_mismatch: SchemaMismatchPolicy;
  readonly source_objects: string[];
  readonly user_groups: string[];
  readonly folder_id: string | null;
  readonly folder_name: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Select list of a {@link ContextRow}, from `contexts`. */
export const contextColumns = `
  contexts.id, contexts.slug, contexts.name, contexts.description, contexts.schema, contexts.identity_fact,
  contexts.auto_execute_decisions, contexts.ttl_seconds, contexts.history_limit, contexts.on_schema_mismatch, contexts.source_objects,
  contexts.user_groups, contexts.folder_id,
  (select folders.name from folders where folders.id = contexts.folder_id) as folder_name, contexts.created_at, contexts.updated_at`;

export const toContextRecord = (row: ContextRow): ContextRecord => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  description: row.description,
  schema: row.schema,
  identityFact: row.identity_fact,
  autoExecuteDecisions: row.auto_execute_decisions,
  ttlSeconds: row.ttl_seconds,
  historyLimit: row.history_limit,
  onSchemaMismatch: row.on_schema_mismatch,
  sourceObjects: row.source_objects,
  userGroups: row.user_groups,
  folderId: row.folder_id,
  folderName: row.folder_name,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

export interface RelationshipRow {
  readonly id: string;
  readonly from_context_id: string;
  readonly to_context_id: string;
  readonly name: string;
  readonly relation_type: RelationType;
  readonly foreign_key_fact: string;
  readonly description: string | null;
  readonly created_at: Date;
}

/** Select list of a {@link RelationshipRow}. */
export const relationshipColumns =
  'id, from_context_id, to_context_id, name, relation_type, foreign_key_fact, description, created_at';

export const toRelationshipRecord = (row: RelationshipRow): RelationshipRecord => ({
  id: row.id,
  fromContextId: row.from_context_id,
  toContextId: row.to_context_id,
  name: row.name,
  type: row.relation_type,
  foreignKeyFact: row.foreign_key_fact,
  description: row.description,
  createdAt: row.created_at.toISOString(),
});

/** A change of a context for the audit. */
export const changeOfContext = (action: string, before?: ContextRecord, after?: ContextRecord): Change => {
  const { id, slug, userGroups } = after ?? before ?? { id: '', slug: '', userGroups: [] };
  return { kind: 'context', action, id, name: slug, userGroups, before, after };
};
