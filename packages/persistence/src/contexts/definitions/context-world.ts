import { query, type Transaction } from '../../connection/query';
import {
  contextColumns,
  type ContextRecord,
  type ContextRow,
  relationshipColumns,
  type RelationshipRecord,
  type RelationshipRow,
  toContextRecord,
  toRelationshipRecord,
} from './contexts';
import { findForeignKeys, type ForeignKeyName } from './relationships';

/** All visible contexts and relationships of a workspace. */
export interface StoredContextWorld {
  readonly contexts: readonly ContextRecord[];
  readonly relationships: readonly RelationshipRecord[];
  /** Facts whose links every write maintains, including those of relationships that are still being created. */
  readonly foreignKeys: readonly ForeignKeyName[];
}

const LOCK = /* sql */ `
  insert into context_worlds default values
  on conflict (workspace_id) do update set revision = context_worlds.revision + 1
  returning revision`;

/**
 * Locks the definitions of the workspace for this transaction: nobody else changes one before it ends. Every change of a context or a
 * relationship calls it first, so that caches of compiled definitions notice the new revision.
 */
export const lockContextWorld = async (transaction: Transaction): Promise<void> => {
  await query(transaction, LOCK);
};

/**
 * Locks contexts exclusively for this transaction: writers of their instances have finished, and no others start before it ends. Every
 * change of how instances are written calls it, after {@link lockContextWorld} and before it writes (ADR 22).
 */
export const changeContexts = async (transaction: Transaction, contextIds: readonly string[]): Promise<void> => {
  for (const id of [...new Set(contextIds)].sort()) {
    await query(transaction, 'select change_context(cast(:id as uuid))', { id });
  }
};

const HOLD = /* sql */ `select hold_context(cast(:id as uuid)) as revision`;

/**
 * Holds the definition of a context until this transaction ends, shared with other writers of its instances. Answers the revision of the
 * definitions of the workspace; undefined if the context is not visible.
 */
export const holdContext = async (transaction: Transaction, id: string): Promise<number | undefined> => {
  const [row] = await query<{ revision: string | null }>(transaction, HOLD, { id });
  const revision = row?.revision ?? null;
  return revision === null ? undefined : Number(revision);
};

const REVISION = /* sql */ `select revision from context_worlds`;

/** Number of changes of the definitions of the workspace; 0 before the first. */
export const findContextRevision = async (transaction: Transaction): Promise<number> => {
  const [row] = await query<{ revision: string }>(transaction, REVISION);
  return Number(row?.revision ?? 0);
};

/** Every visible context, with the relationships between them; by slug and name. */
export const loadContextWorld = async (transaction: Transaction): Promise<StoredContextWorld> => {
  const contexts = await query<ContextRow>(transaction, `select ${contextColumns} from contexts order by slug`);
  const relationships = await query<RelationshipRow>(
    transaction,
    `select ${relationshipColumns} from context_relationships order by name, id`,
  );
  const foreignKeys = await findForeignKeys(transaction);
  return {
    contexts: contexts.map(toContextRecord),
    relationships: relationships.map(toRelationshipRecord),
    foreignKeys,
  };
};

/** The part of a context's surroundings that an access sees. */
export interface VisibleAround {
  /** Slugs of all contexts. */
  readonly contexts: readonly string[];
  /** Ids of all relationships. */
  readonly relationships: readonly string[];
  /** Keys of the rules and flows that are bound to the context: `rule:<slug>`. */
  readonly assets: readonly string[];
}

const FIND = /* sql */ `
  select array(select slug from contexts) as contexts,
    array(select cast(id as text) from context_relationships) as relationships,
    array(select kind || ':' || slug from assets where context_slug = :slug) as assets
  where exists (select from contexts where slug = :slug)`;

/** The visible surroundings of the context of a slug; undefined if the context itself is not visible. */
export const findVisibleAround = async (transaction: Transaction, slug: string): Promise<VisibleAround | undefined> =>
  (await query<VisibleAround>(transaction, FIND, { slug }))[0];
