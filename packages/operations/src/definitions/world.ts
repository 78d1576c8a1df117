import { type ContextDefinition, type ContextWorld, type Relationship } from '@decision/contexts';
import { definitionSettings, pickValues } from '@decision/contracts';
import { type ContextRecord, type RelationshipRecord, type StoredContextWorld } from '@decision/persistence';

/** Converts a stored context to the form that the rules of contexts use. */
export const toDefinition = (
  record: Omit<ContextRecord, 'folderName' | 'createdAt' | 'updatedAt'>,
): ContextDefinition => ({
  id: record.id,
  slug: record.slug,
  ...pickValues(definitionSettings, record),
});

export const toRelationship = (record: Omit<RelationshipRecord, 'createdAt' | 'description'>): Relationship => ({
  id: record.id,
  name: record.name,
  type: record.type,
  fromContextId: record.fromContextId,
  toContextId: record.toContextId,
  foreignKeyFact: record.foreignKeyFact,
});

export const toWorld = ({ contexts, relationships }: StoredContextWorld): ContextWorld => ({
  contexts: new Map(contexts.map((context) => [context.id, toDefinition(context)])),
  relationships: relationships.map(toRelationship),
});

/** The context and all contexts that it can reach through relationships: everything that its formulas can read. */
export const reachableFrom = (contextId: string, { contexts, relationships }: ContextWorld): ContextWorld => {
  const reached = new Set<string>();
  const open = [contextId];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (reached.has(id)) continue;
    reached.add(id);
    open.push(
      ...relationships.filter(({ fromContextId }) => fromContextId === id).map(({ toContextId }) => toContextId),
    );
  }
  return {
    contexts: new Map([...contexts].filter(([id]) => reached.has(id))),
    relationships: relationships.filter(({ fromContextId }) => reached.has(fromContextId)),
  };
};
