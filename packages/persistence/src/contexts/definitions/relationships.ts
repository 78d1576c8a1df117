import { recordChange } from '../../audit/record-change';
import { type Database } from '../../connection/database';
import { query, type Transaction } from '../../connection/query';
import { writeUnlessTaken } from '../../connection/unique-violation';
import { isUuid } from '../../connection/uuid';
import {
  type ContextRecord,
  relationshipColumns,
  type RelationshipRecord,
  type RelationshipRow,
  toRelationshipRecord,
} from './contexts';

export type NewRelationship = Omit<RelationshipRecord, 'createdAt'>;

type InsertRelationshipOutcome =
  | { readonly status: 'inserted'; readonly relationship: RelationshipRecord }
  /** The context has another relationship of the name. */
  | { readonly status: 'name_taken' };

const INSERT = /* sql */ `
  insert into context_relationships (id, from_context_id, to_context_id, name, relation_type, foreign_key_fact, description)
  values (cast(:id as uuid), cast(:from as uuid), cast(:to as uuid), :name, :type, :fact, :description)
  returning ${relationshipColumns}`;

/** Stores a relationship between two visible contexts; `owner` is its source. */
export const insertRelationship = async (
  transaction: Transaction,
  owner: Pick<ContextRecord, 'slug' | 'userGroups'>,
  relationship: NewRelationship,
): Promise<InsertRelationshipOutcome> => {
  const { id, fromContextId, toContextId, name, type, foreignKeyFact, description } = relationship;
  const writing = await writeUnlessTaken(transaction, (savepoint) =>
    query<RelationshipRow>(savepoint, INSERT, {
      ...{ id, from: fromContextId, to: toContextId, name, type, fact: foreignKeyFact, description },
    }),
  );
  const [row] = writing.status === 'taken' ? [] : writing.value;
  if (row === undefined) return { status: 'name_taken' };
  const inserted = toRelationshipRecord(row);
  await recordChange(transaction, {
    kind: 'context',
    action: 'relate',
    id: fromContextId,
    name: owner.slug,
    userGroups: owner.userGroups,
    otherGroups: await groupsOf(transaction, toContextId),
    after: inserted,
  });
  return { status: 'inserted', relationship: inserted };
};

const GROUPS = /* sql */ `select user_groups from contexts where id = cast(:id as uuid)`;

/** User groups of the context to which a relationship leads. */
const groupsOf = async (transaction: Transaction, id: string): Promise<readonly string[]> => {
  const [row] = await query<{ user_groups: readonly string[] }>(transaction, GROUPS, { id });
  return row?.user_groups ?? [];
};

const DELETE = /* sql */ `
  delete from context_relationships where id = cast(:id as uuid) and from_context_id = cast(:from as uuid)
  returning ${relationshipColumns}`;

/** Deletes a relationship of a source context; undefined if it has no visible one of the id. */
export const deleteRelationship = async (
  transaction: Transaction,
  owner: Pick<ContextRecord, 'id' | 'slug' | 'userGroups'>,
  id: string,
): Promise<RelationshipRecord | undefined> => {
  if (!isUuid(id)) return undefined;
  const [row] = await query<RelationshipRow>(transaction, DELETE, { id, from: owner.id });
  if (row === undefined) return undefined;
  const deleted = toRelationshipRecord(row);
  await recordChange(transaction, {
    kind: 'context',
    action: 'unrelate',
    id: owner.id,
    name: owner.slug,
    userGroups: owner.userGroups,
    otherGroups: await groupsOf(transaction, deleted.toContextId),
    before: deleted,
  });
  return deleted;
};

/** A fact of a context that names instances of others. */
export interface ForeignKeyName {
  /** The context whose instances hold it. */
  readonly contextId: string;
  readonly fact: string;
}

/** `building`: links of existing instances are being created; `dropping`: no relationship needs them any longer. */
type ForeignKeyState = 'building' | 'ready' | 'dropping';

/** Progress of creating the links of a foreign key. */
interface ForeignKeyProgress {
  readonly state: ForeignKeyState;
  /** The last instance whose links were created; empty if none were. */
  readonly after: string;
}

/** A foreign key of some workspace. */
interface WorkspaceForeignKey extends ForeignKeyName {
  readonly workspaceId: string;
}

const bindingsOf = ({ contextId, fact }: ForeignKeyName) => ({ context: contextId, fact });

/** The foreign keys whose links are maintained. */
export const findForeignKeys = async (transaction: Transaction): Promise<readonly ForeignKeyName[]> => {
  const rows = await query<{ context_id: string; fact: string }>(
    transaction,
    /* sql */ `select context_id, fact from context_foreign_keys where state <> 'dropping' order by context_id, fact`,
  );
  return rows.map(({ context_id: contextId, fact }) => ({ contextId, fact }));
};

const REGISTER = /* sql */ `
  insert into context_foreign_keys as k (context_id, fact, state) values (cast(:context as uuid), :fact, 'building')
  on conflict (context_id, fact) do update set
    state = case k.state when 'dropping' then 'building' else k.state end,
    after = case k.state when 'dropping' then '' else k.after end,
    updated_at = clock_timestamp()
  returning state`;

/**
 * Makes every write from now on maintain the links of a fact; those of existing instances are created in steps. The transaction has locked
 * the context ({@link changeContexts}), so that no write unaware of the fact is in progress.
 */
export const registerForeignKey = async (transaction: Transaction, key: ForeignKeyName): Promise<ForeignKeyState> => {
  const [row] = await query<{ state: ForeignKeyState }>(transaction, REGISTER, bindingsOf(key));
  return row?.state ?? 'dropping';
};

const LOCK = /* sql */ `
  select state, after from context_foreign_keys where context_id = cast(:context as uuid) and fact = :fact for no key update`;

/** Locks a foreign key for this transaction, so that its steps run one at a time; undefined if there is none. */
export const lockForeignKey = async (
  transaction: Transaction,
  key: ForeignKeyName,
): Promise<ForeignKeyProgress | undefined> => {
  const [row] = await query<ForeignKeyProgress>(transaction, LOCK, bindingsOf(key));
  return row;
};

const SAVE = /* sql */ `
  update context_foreign_keys set state = :state, after = :after, updated_at = clock_timestamp()
  where context_id = cast(:context as uuid) and fact = :fact`;

/** Saves the progress of creating the links of a foreign key. */
export const saveForeignKey = async (
  transaction: Transaction,
  key: ForeignKeyName,
  { state, after }: ForeignKeyProgress,
): Promise<void> => {
  await query(transaction, SAVE, { ...bindingsOf(key), state, after });
};

const HOLDERS = /* sql */ `
  select i.instance_id, i.facts -> :fact as value from context_instances i
  where i.context_id = cast(:context as uuid) and i.instance_id > cast(:after as text) collate "C"
  order by i.instance_id limit :limit
  for no key update of i`;

/** Value of a foreign key in an instance; null: none. */
interface ForeignKeyHolder {
  readonly instanceId: string;
  readonly value: unknown;
}

/** The next instances of a context in the order of their ids, whose rows this transaction holds from now on. */
export const lockForeignKeyHolders = async (
  transaction: Transaction,
  key: ForeignKeyName,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly ForeignKeyHolder[]> => {
  const rows = await query<{ instance_id: string; value: unknown }>(transaction, HOLDERS, {
    ...bindingsOf(key),
    after,
    limit,
  });
  return rows.map(({ instance_id: instanceId, value }) => ({ instanceId, value }));
};

const DROP_LINKS = /* sql */ `
  with gone as (
    delete from context_links where ctid = any (array(
      select l.ctid from context_links l where l.context_id = cast(:context as uuid) and l.fact = :fact limit :limit
    ))
    returning 1
  )
  select count(*) as links from gone`;
const DROP = /* sql */ `
  delete from context_foreign_keys where context_id = cast(:context as uuid) and fact = :fact and state = 'dropping'`;

/** Deletes some of the links of an unneeded foreign key, and the key itself once there are none; answers whether it was deleted. */
export const dropForeignKey = async (
  transaction: Transaction,
  key: ForeignKeyName,
  limit: number,
): Promise<boolean> => {
  const [row] = await query<{ links: string }>(transaction, DROP_LINKS, { ...bindingsOf(key), limit });
  if (Number(row?.links ?? 0) === limit) return false;
  await query(transaction, DROP, bindingsOf(key));
  return true;
};

/** Foreign keys of all workspaces whose links are not all created or dropped, those with the longest pause first. */
export const findUnfinishedForeignKeys = async (
  database: Pick<Database, 'lookUp'>,
  most: number,
): Promise<readonly WorkspaceForeignKey[]> => {
  const rows = await database.lookUp<{ workspace_id: string; context_id: string; fact: string }>(
    'select * from find_unfinished_foreign_keys(cast(:most as integer))',
    { most },
  );
  return rows.map(({ workspace_id, context_id, fact }) => ({
    workspaceId: workspace_id,
    contextId: context_id,
    fact,
  }));
};
