import { quoted } from '../facts/fact-name';
import { type ContextWorld, holderOf, type Relationship } from './context-definition';
import { type ContextProblem } from './context-problem';

interface RelationReading {
  /** By name. */
  readonly relations: ReadonlyMap<string, Relationship>;
  readonly problems: readonly ContextProblem[];
}

/** Reads the relationships that go out from a context (C10). */
export const readRelations = (contextId: string, world: ContextWorld): RelationReading => {
  const relations = new Map<string, Relationship>();
  const problems: ContextProblem[] = [];
  for (const relationship of world.relationships.filter(({ fromContextId }) => fromContextId === contextId)) {
    const problem = problemOf(relationship, relations, world);
    if (problem === undefined) relations.set(relationship.name, relationship);
    else problems.push({ ...problem, path: `/relationships/${relationship.name}` });
  }
  return { relations, problems };
};

const problemOf = (
  relationship: Relationship,
  known: ReadonlyMap<string, Relationship>,
  { contexts }: ContextWorld,
): Omit<ContextProblem, 'path'> | undefined => {
  const { name, toContextId, foreignKeyFact } = relationship;
  if (name === 'relations') return { code: 'invalid_name', message: 'A relationship cannot be named relations.' };
  if (known.has(name)) return { code: 'duplicate_name', message: `The relationship ${quoted(name)} exists twice.` };
  if (!contexts.has(toContextId)) {
    return {
      code: 'context_unknown',
      message: `The relationship ${quoted(name)} leads to a context that does not exist.`,
    };
  }
  const holder = contexts.get(holderOf(relationship));
  const fact = holder?.schema.base.find(({ key }) => key === foreignKeyFact);
  if (holder !== undefined && (fact?.type === 'string' || fact?.type === 'number')) return undefined;
  const message = `The foreign key ${quoted(foreignKeyFact)} of the relationship ${quoted(name)} must be a base fact of type string or number of the context ${quoted(holder?.slug ?? '')}.`;
  return { code: 'foreign_key_unsuitable', message };
};
