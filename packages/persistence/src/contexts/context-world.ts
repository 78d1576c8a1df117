import { query, type Transaction } from '../connection/query';
import {
  contextColumns,
  type ContextRecord,
  type ContextRow,
  type RelationshipRecord,
  relationshipColumns,
  type RelationshipRow,
  toContextRecord,
  toRelationshipRecord,
} from './context-record';

/** All contexts and relationships of a workspace that are visible. */
export interface StoredContextWorld {
  readonly contexts: readonly ContextRecord[];
  readonly relationships: readonly RelationshipRecord[];
}

const LOCK = /* sql */ `
  insert into context_worlds default values
  on conflict (workspace_id) do update set revision = context_worlds.revision + 1
  returning revision`;

/**
 * Takes the definitions of the workspace for this transaction: nobody else changes one before it ends. Everything that changes a context or a
 * relationship calls it first, so that readers of {@link findContextRevision} notice.
 */
export const lockContextWorld = async (transaction: Transaction): Promise<void> => {
  await query(transaction, LOCK);
};

const REVISION = /* sql */ `select revision from context_worlds`;

/** Counts the changes of the definitions of the workspace; 0 where there never was any. */
export const findContextRevision = async (transaction: Transaction): Promise<number> => {
  const [row] = await query<{ revision: string }>(transaction, REVISION);
  return Number(row?.revision ?? 0);
};

/** Every context that is visible, with the relationships between them; by slug and name. */
export const loadContextWorld = async (transaction: Transaction): Promise<StoredContextWorld> => {
  const contexts = await query<ContextRow>(transaction, `select ${contextColumns} from contexts order by slug`);
  const relationships = await query<RelationshipRow>(
    transaction,
    `select ${relationshipColumns} from context_relationships order by name, id`,
  );
  return { contexts: contexts.map(toContextRecord), relationships: relationships.map(toRelationshipRecord) };
};
