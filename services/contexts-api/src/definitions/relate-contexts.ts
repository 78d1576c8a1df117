import { compileContext, type ContextWorld, holderOf } from '@decision/contexts';
import {
  type CreateRelationshipRequest,
  type DeletedContextAnswer,
  type OutgoingRelationship,
  ServiceError,
} from '@decision/contracts';
import {
  type ContextRecord,
  deleteContext as deleteStoredContext,
  deleteRelationship as deleteStoredRelationship,
  findContext,
  insertRelationship,
  linkExistingInstances,
  loadContextWorld,
  lockContextWorld,
  type NewRelationship,
  type Transaction,
  unbindRules,
  type WorkspaceAccess,
} from '@decision/persistence';
import { wholeWorkspace } from '../access';
import { requireValid } from './check-world';
import { toOutgoing } from './context-answers';
import { contextNotFound } from './context-directory';
import { type DefinitionsContext } from './save-context';
import { toRelationship, toWorld } from './to-definition';

/** Relates a visible context to another. Throws `context_not_found`, `context_invalid`, `relationship_name_taken`. */
export const createRelationship = async (
  { database, newId }: DefinitionsContext,
  access: WorkspaceAccess,
  id: string,
  request: CreateRelationshipRequest,
): Promise<OutgoingRelationship> => {
  const [from, to] = await database.inWorkspace(access, async (transaction) => [
    await requireContext(transaction, id),
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
  return database.inWorkspace(wholeWorkspace(access), async (transaction) => {
    await lockContextWorld(transaction);
    const world = toWorld(await loadContextWorld(transaction));
    const isNamed = world.relationships.some(
      ({ fromContextId, name }) => fromContextId === from.id && name === relationship.name,
    );
    if (isNamed) throw nameTaken(relationship.name);
    const added = toRelationship(relationship);
    requireValid(from.id, { ...world, relationships: [...world.relationships, added] });
    const inserted = await insertRelationship(transaction, from, relationship);
    if (inserted.status === 'name_taken') throw nameTaken(relationship.name);
    await linkExistingInstances(transaction, holderOf(added), added.foreignKeyFact);
    return toOutgoing(inserted.relationship, to);
  });
};

const requireContext = async (transaction: Transaction, id: string): Promise<ContextRecord> => {
  const found = await findContext(transaction, { id });
  if (found === undefined) throw contextNotFound(id);
  return found;
};

const nameTaken = (name: string): ServiceError =>
  new ServiceError(
    'relationship_name_taken',
    `The context has another relationship named "${name}"; choose another name.`,
    { name },
  );

/** Throws `context_not_found`, `relationship_not_found`, and `context_invalid` where formulas read it. */
export const deleteRelationship = async (
  { database }: DefinitionsContext,
  access: WorkspaceAccess,
  id: string,
  relationshipId: string,
): Promise<{ message: string; id: string }> => {
  await database.inWorkspace(access, (transaction) => requireContext(transaction, id));
  return database.inWorkspace(wholeWorkspace(access), async (transaction) => {
    await lockContextWorld(transaction);
    const owner = await requireContext(transaction, id);
    const deleted = await deleteStoredRelationship(transaction, owner, relationshipId);
    if (deleted === undefined) {
      throw new ServiceError('relationship_not_found', `The context "${owner.slug}" has no relationship of this id.`);
    }
    requireValid(id, toWorld(await loadContextWorld(transaction)));
    return { message: `Relationship "${deleted.name}" was deleted.`, id: deleted.id };
  });
};

/** Deletes a context with its instances. Throws `context_not_found`, and `context_in_use` where formulas of others read it. */
export const deleteContext = async (
  { database }: DefinitionsContext,
  access: WorkspaceAccess,
  id: string,
): Promise<DeletedContextAnswer> => {
  await database.inWorkspace(access, (transaction) => requireContext(transaction, id));
  return database.inWorkspace(wholeWorkspace(access), async (transaction) => {
    await lockContextWorld(transaction);
    const { slug } = await requireContext(transaction, id);
    const users = brokenWithout(id, toWorld(await loadContextWorld(transaction)));
    if (users.length > 0) {
      const message = `Formulas of ${users.join(', ')} read the context "${slug}"; change them first.`;
      throw new ServiceError('context_in_use', message, { contexts: users });
    }
    const unbound = await unbindRules(transaction, slug);
    const deleted = await deleteStoredContext(transaction, id);
    if (deleted === undefined) throw contextNotFound(id);
    return {
      message: `Context "${slug}" was deleted, with its instances.`,
      unbound_rules: [...unbound],
      unbound_flows: [],
      pending_evaluations_cancelled: deleted.registered,
    };
  });
};

/** Slugs of contexts that would not compile if one were not there. */
const brokenWithout = (id: string, { contexts, relationships }: ContextWorld): readonly string[] => {
  const rest = {
    contexts: new Map([...contexts].filter(([other]) => other !== id)),
    relationships: relationships.filter(({ fromContextId, toContextId }) => fromContextId !== id && toContextId !== id),
  };
  return [...rest.contexts.values()].filter((other) => !compileContext(other, rest).ok).map(({ slug }) => slug);
};
