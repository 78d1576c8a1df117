import { recordChange } from '../../audit/record-change';
import { query, type Transaction } from '../../connection/query';
import { writeUnlessTaken } from '../../connection/unique-violation';
import { isUuid } from '../../connection/uuid';
import {
  type ContextRecord,
  type RelationshipRecord,
  relationshipColumns,
  type RelationshipRow,
  toRelationshipRecord,
} from './context-record';

export type NewRelationship = Omit<RelationshipRecord, 'createdAt'>;

type InsertRelationshipOutcome =
  | { readonly status: 'inserted'; readonly relationship: RelationshipRecord }
  /** The context has another relationship of the name. */
  | { readonly status: 'name_taken' };

const INSERT = /* sql */ `
  insert into context_relationships (id, from_context_id, to_context_id, name, relation_type, foreign_key_fact, description)
  values (cast(:id as uuid), cast(:from as uuid), cast(:to as uuid), :name, :type, :fact, :description)
  returning ${relationshipColumns}`;

/** Stores a relationship between two visible contexts; `owner` is the one it goes out from. */
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

/** Deletes a relationship that goes out from a context; undefined where it has none of the id that is visible. */
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
