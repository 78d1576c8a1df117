import { quoted } from '../facts/facts';
import {
  type ContextDefinition,
  type ContextModel,
  type ContextProblem,
  type ContextWorld,
  type DerivedModel,
  holderOf,
  MAX_CONTEXT_PROBLEMS,
  type Relationship,
} from './context-model';
import { findCycleAcross, orderByDependency } from './cycles';
import { readDerived, readSchema } from './read-schema';

type ContextCompilation =
  | { readonly ok: true; readonly model: ContextModel }
  | { readonly ok: false; readonly problems: readonly ContextProblem[] };

/**
 * Checks a context against its workspace and compiles it (C1 to C10). All problems are answered at once, at most 100. The world includes
 * the new form of the context itself; when a relationship is added, both of its contexts are compiled in a world that has it.
 */
export const compileContext = (definition: ContextDefinition, world: ContextWorld): ContextCompilation => {
  const local = readContext(definition, world);
  const problems = [...local.problems];
  const ordering = orderByDependency(dependenciesOf(local.derived));
  if (!ordering.ok) problems.push(cycleProblem(ordering.cycle));
  else if (problems.length === 0) {
    const cycle = findCycleAcross(definition.id, world, (other) => readContext(other, world));
    if (cycle !== undefined) problems.push(cycleProblem(cycle));
  }
  if (problems.length > 0 || local.identity === undefined || !ordering.ok) {
    return { ok: false, problems: problems.slice(0, MAX_CONTEXT_PROBLEMS) };
  }
  const { facts, identity, relations, derivedNames } = local;
  const derived = new Map(ordering.order.flatMap((key) => entryOf(local.derived, key)));
  const model = { definition, identity, facts, ...groupFacts(facts), derived, derivedNames, relations };
  return { ok: true, model };
};

/** Facts by their settings: looked up once, since every instance asks for them. */
const groupFacts = (
  facts: ContextModel['facts'],
): Pick<ContextModel, 'requiredFacts' | 'trackedFacts' | 'defaultedFacts' | 'limitedFacts'> => {
  const all = [...facts.values()];
  return {
    requiredFacts: all.filter(({ required }) => required).map(({ key }) => key),
    trackedFacts: all.filter(({ trackHistory }) => trackHistory).map(({ key }) => key),
    defaultedFacts: all.filter(({ defaultValue }) => defaultValue !== null),
    limitedFacts: all.filter(({ collection }) => collection !== undefined),
  };
};

const entryOf = (derived: ReadonlyMap<string, DerivedModel>, key: string): [string, DerivedModel][] => {
  const model = derived.get(key);
  return model === undefined ? [] : [[key, model]];
};

const cycleProblem = (cycle: readonly string[]): ContextProblem => ({
  code: 'cycle',
  path: '/schema/derived',
  message: `Derived facts cannot depend on themselves: ${shortened(cycle).join(' -> ')}.`,
});

/** Maximum number of facts of a cycle that its problem names. */
const MOST_NAMED = 20;

const shortened = (cycle: readonly string[]): readonly string[] => {
  const more = cycle.length - MOST_NAMED;
  if (more <= 0) return cycle;
  return [...cycle.slice(0, MOST_NAMED - 1), `(${more.toLocaleString('en')} more)`, ...cycle.slice(-1)];
};

/** Which derived facts each derived fact of one context reads. */
const dependenciesOf = (derived: ReadonlyMap<string, DerivedModel>): ReadonlyMap<string, readonly string[]> =>
  new Map([...derived].map(([key, { reads }]) => [key, [...reads.facts].filter((fact) => derived.has(fact))]));

/** Reads one context without checking for cycles. */
const readContext = (definition: ContextDefinition, world: ContextWorld) => {
  const schema = readSchema(definition.schema, definition.identityFact);
  const { relations, problems } = readRelations(definition.id, world);
  const surroundings = { facts: schema.facts, derived: schema.derived, relations };
  const { derived, problems: formulaProblems } = readDerived(surroundings);
  return {
    facts: schema.facts,
    identity: schema.identity,
    derived,
    derivedNames: [...schema.derived.keys()],
    relations,
    problems: [...schema.problems, ...problems, ...formulaProblems],
  };
};

interface RelationReading {
  /** By name. */
  readonly relations: ReadonlyMap<string, Relationship>;
  readonly problems: readonly ContextProblem[];
}

/** Reads the outgoing relationships of a context (C10). */
const readRelations = (contextId: string, world: ContextWorld): RelationReading => {
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
