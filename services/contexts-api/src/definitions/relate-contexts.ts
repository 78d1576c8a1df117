import { compileContext, type ContextWorld, holderOf, linksOf } from '@decision/contexts';
import {
  type CreateRelationshipRequest,
  type DeletedContextAnswer,
  type OutgoingRelationship,
  ServiceError,
} from '@decision/contracts';
import { contextNotFound, type DefinitionsContext, toRelationship, wholeWorkspace } from '@decision/operations';
import {
  asWorkspace,
  changeContexts,
  type ContextRecord,
  type Database,
  deleteContext as deleteStoredContext,
  deleteRelationship as deleteStoredRelationship,
  dropForeignKey,
  findBoundAssets,
  findContextByName,
  type ForeignKeyName,
  insertRelationship,
  loadContextWorld,
  lockContextWorld,
  lockForeignKey,
  lockForeignKeyHolders,
  type NewRelationship,
  registerForeignKey,
  type RelationshipRecord,
  saveForeignKey,
  type Transaction,
  unbindAssets,
  type WorkspaceAccess,
  writeLinks,
} from '@decision/persistence';
import { toOutgoing } from './read-contexts';
import { changeSeenWorld, keptFormulas, loadSeenWorld, requireSavable, requireValid, type SeenWorld } from './savable';

/** Time limit for the steps of a change of definitions, epoch ms. */
interface StepsUntil {
  readonly deadline: number;
}

/**
 * Relates a visible context to another. The relationship exists once the links of all instances are made (C154): if there are too many for one
 * request, the next request continues. A repeated request answers the existing relationship. Throws `context_not_found`, `context_invalid`,
 * `relationship_name_taken`, `deadline_exceeded`.
 */
export const createRelationship = async (
  { database, newId }: DefinitionsContext,
  access: WorkspaceAccess,
  name: string,
  { deadline, ...request }: CreateRelationshipRequest & StepsUntil,
): Promise<OutgoingRelationship> => {
  const [from, to] = await database.inWorkspace(access, async (transaction) => [
    await requireContext(transaction, name),
    await requireContext(transaction, request.to_context_id),
  ]);
  const relationship: NewRelationship = {
    id: newId(),
    fromContextId: from.id,
    toContextId: to.id,
    name: request.name ?? to.slug.replaceAll('-', '_'),
    type: request.relation_type,
    foreignKeyFact: request.foreign_key_fact,
    description: request.description ?? null,
  };
  const key = { contextId: holderOf(toRelationship(relationship)), fact: relationship.foreignKeyFact };
  const whole = wholeWorkspace(access);
  for (;;) {
    const found = await database.inWorkspace(access, (transaction) =>
      relate(transaction, access, { from, to, relationship, key }),
    );
    if (found !== undefined) return found;
    await finishForeignKey(database, whole, key, deadline);
  }
};

interface RelationshipToMake {
  readonly from: ContextRecord;
  readonly to: ContextRecord;
  readonly relationship: NewRelationship;
  readonly key: ForeignKeyName;
}

/** Stores a relationship whose links are made; if they are not, requests their creation and answers undefined. */
const relate = async (
  transaction: Transaction,
  access: WorkspaceAccess,
  { from, to, relationship, key }: RelationshipToMake,
): Promise<OutgoingRelationship | undefined> => {
  await lockContextWorld(transaction);
  await changeContexts(transaction, [key.contextId]);
  const stored = await asWorkspace(transaction, () => loadContextWorld(transaction));
  const known = stored.relationships.find(
    (other) => other.fromContextId === from.id && other.name === relationship.name,
  );
  if (known !== undefined && isSame(known, relationship)) return toOutgoing(known, to);
  if (known !== undefined) throw nameTaken(relationship.name);
  const related = changeSeenWorld(await loadSeenWorld(transaction, access), ({ contexts, relationships }) => ({
    contexts,
    relationships: [...relationships, toRelationship(relationship)],
  }));
  requireSavable(from.id, related, keptFormulas(from.schema, from.schema));
  if ((await registerForeignKey(transaction, key)) !== 'ready') return undefined;
  const inserted = await insertRelationship(transaction, from, relationship);
  if (inserted.status === 'name_taken') throw nameTaken(relationship.name);
  return toOutgoing(inserted.relationship, to);
};

const isSame = (known: RelationshipRecord, wanted: NewRelationship): boolean =>
  known.toContextId === wanted.toContextId &&
  known.type === wanted.type &&
  known.foreignKeyFact === wanted.foreignKeyFact &&
  known.description === wanted.description;

/** The context of an id or slug. */
const requireContext = async (transaction: Transaction, name: string): Promise<ContextRecord> => {
  const found = await findContextByName(transaction, name);
  if (found === undefined) throw contextNotFound(name);
  return found;
};

const nameTaken = (name: string): ServiceError =>
  new ServiceError(
    'relationship_name_taken',
    `The context has another relationship named "${name}"; choose another name.`,
    { name },
  );

/** Throws `context_not_found`, `relationship_not_found`, and `context_invalid` if formulas read the relationship. */
export const deleteRelationship = async (
  { database }: DefinitionsContext,
  access: WorkspaceAccess,
  name: string,
  relationshipId: string,
): Promise<{ message: string; id: string }> => {
  return database.inWorkspace(access, async (transaction) => {
    const { id } = await requireContext(transaction, name);
    await lockContextWorld(transaction);
    const owner = await requireContext(transaction, id);
    const { relationships } = await loadContextWorld(transaction);
    const holders = relationships
      .filter((known) => known.id === relationshipId)
      .map(toRelationship)
      .map(holderOf);
    await changeContexts(transaction, holders);
    const deleted = await deleteStoredRelationship(transaction, owner, relationshipId);
    if (deleted === undefined) {
      throw new ServiceError('relationship_not_found', `The context "${owner.slug}" has no relationship of this id.`);
    }
    const { whole } = await loadSeenWorld(transaction, access);
    requireValid(id, whole);
    return { message: `Relationship "${deleted.name}" was deleted.`, id: deleted.id };
  });
};

/**
 * Deletes a context. It and its instances are gone for every caller once this answers; their data is removed afterwards, by upkeep (C160, C161).
 * Throws `context_not_found`, and `context_in_use` if formulas of others read it.
 */
export const deleteContext = async (
  { database }: DefinitionsContext,
  access: WorkspaceAccess,
  name: string,
): Promise<DeletedContextAnswer> => {
  return database.inWorkspace(access, async (transaction) => {
    const { id } = await requireContext(transaction, name);
    await lockContextWorld(transaction);
    await changeContexts(transaction, [id]);
    const { slug } = await requireContext(transaction, id);
    const { whole, visible } = await loadSeenWorld(transaction, access);
    const users = brokenWithout(id, whole).filter((user) =>
      [...visible.contexts.values()].some((c) => c.slug === user),
    );
    if (users.length > 0) {
      const message = `Formulas of ${users.join(', ')} read the context "${slug}"; change them first.`;
      throw new ServiceError('context_in_use', message, { contexts: users });
    }
    await requireNothingHidden(transaction, { id, slug, whole, visible });
    const unbound = await unbindAssets(transaction, slug);
    const deleted = await deleteStoredContext(transaction, id);
    if (deleted === undefined) throw contextNotFound(id);
    return {
      message: `Context "${slug}" was deleted, with its instances; their data is removed in the background.`,
      unbound_rules: [...unbound.rule],
      unbound_flows: [...unbound.flow],
      pending_evaluations_cancelled: deleted.registered,
    };
  });
};

/** Throws `context_in_use` if hidden rules are bound to a context, or hidden contexts related to it: deleting it would change them (V12). */
const requireNothingHidden = async (
  transaction: Transaction,
  { id, slug, whole, visible }: SeenWorld & { readonly id: string; readonly slug: string },
): Promise<void> => {
  if (whole === visible) return;
  const seen = new Set(visible.relationships.map((relationship) => relationship.id));
  const isRelated = whole.relationships.some(
    ({ id: relationship, fromContextId, toContextId }) =>
      !seen.has(relationship) && (fromContextId === id || toContextId === id),
  );
  const bound = await asWorkspace(transaction, () => findBoundAssets(transaction, slug));
  const isBound = bound.length > (await findBoundAssets(transaction, slug)).length;
  if (!isRelated && !isBound) return;
  const hidden = [isBound ? 'rules or flows' : '', isRelated ? 'contexts' : '']
    .filter((kind) => kind !== '')
    .join(' and ');
  const message = `The context "${slug}" cannot be deleted: ${hidden} that this key does not see are bound or related to it.`;
  throw new ServiceError('context_in_use', message, { contexts: [] });
};

/** Slugs of contexts that would not compile without the given one. */
const brokenWithout = (id: string, { contexts, relationships }: ContextWorld): readonly string[] => {
  const rest = {
    contexts: new Map([...contexts].filter(([other]) => other !== id)),
    relationships: relationships.filter(({ fromContextId, toContextId }) => fromContextId !== id && toContextId !== id),
  };
  return [...rest.contexts.values()].filter((other) => !compileContext(other, rest).ok).map(({ slug }) => slug);
};

/** Instances linked per step: their rows are locked until its transaction ends. */
const STEP = 1_000;
/** Links deleted per step. */
const DROP_STEP = 10_000;

/** One step of the work that a foreign key needs (C154); answers whether it was the last. */
const takeStep = async (transaction: Transaction, key: ForeignKeyName): Promise<boolean> => {
  const progress = await lockForeignKey(transaction, key);
  if (progress === undefined || progress.state === 'ready') return true;
  if (progress.state === 'dropping') return dropForeignKey(transaction, key, DROP_STEP);
  const holders = await lockForeignKeyHolders(transaction, key, { after: progress.after, limit: STEP });
  await writeLinks(
    transaction,
    key.contextId,
    holders.map(({ instanceId, value }) => ({
      ...{ instanceId, fact: key.fact },
      targetId: linksOf([key.fact], { [key.fact]: value }).get(key.fact) ?? null,
    })),
  );
  const isLast = holders.length < STEP;
  const after = holders.at(-1)?.instanceId ?? progress.after;
  await saveForeignKey(transaction, key, isLast ? { state: 'ready', after: '' } : { state: 'building', after });
  return isLast;
};

/** Maximum number of consecutive steps that collide with writes, before the work is left to a later attempt. */
const MOST_COLLISIONS = 5;

/**
 * Does the work that a foreign key needs, step by step; every step is committed, so that a later request continues there. Throws
 * `deadline_exceeded`.
 */
export const finishForeignKey = async (
  database: Database,
  access: WorkspaceAccess,
  key: ForeignKeyName,
  deadline: number,
): Promise<void> => {
  let collisions = 0;
  for (let isDone = false; !isDone;) {
    if (Date.now() >= deadline) throw tooLate(key);
    try {
      isDone = await database.inWorkspace(access, (transaction) => takeStep(transaction, key));
      collisions = 0;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'database_unavailable') throw error;
      if ((collisions += 1) > MOST_COLLISIONS) throw error;
    }
  }
};

const tooLate = ({ fact }: ForeignKeyName): ServiceError =>
  new ServiceError(
    'deadline_exceeded',
    `The links of the fact "${fact}" are being made, and there are many instances; send the request again, and it goes on from here.`,
    { fact },
  );
