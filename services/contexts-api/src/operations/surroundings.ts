import {
  type Collections,
  type Facts,
  linkedInstance,
  type Relationship,
  valueOf,
  withDefaults,
} from '@decision/contexts';
import { findHistory, findRelated, loadCollections, type RelatedRecord, type Transaction } from '@decision/persistence';
import { type ContextInUse } from '../definitions/context-directory';
import { groupBy } from './group-by';
import { type GivenFacts, type Surroundings } from './work';

/** Reads what formulas and assets of some instances read beside them: related instances, and history. */
export const loadSurroundings = async (
  transaction: Transaction,
  context: ContextInUse,
  instances: readonly GivenFacts[],
): Promise<ReadonlyMap<string, Surroundings>> => {
  const ids = instances.map(({ instanceId }) => instanceId);
  const facts = historyFactsOf(context);
  const limit = context.model.definition.historyLimit;
  const histories = facts.length === 0 ? undefined : await findHistory(transaction, context.id, ids, { facts, limit });
  const related = new Map<string, Record<string, Facts | null | readonly Facts[]>>(ids.map((id) => [id, {}]));
  for (const relationship of context.relations) {
    const found = await loadRelation(transaction, context, relationship, instances);
    for (const id of ids) Object.assign(related.get(id) ?? {}, { [relationship.name]: found(id) });
  }
  return new Map(
    ids.map((id) => [id, { related: related.get(id) ?? {}, history: Object.fromEntries(histories?.get(id) ?? []) }]),
  );
};

/** Facts whose history formulas read. */
const historyFactsOf = ({ model }: ContextInUse): string[] => [
  ...new Set([...model.derived.values()].flatMap(({ reads }) => reads.history.filter((fact) => fact !== undefined))),
];

/** What formulas read of the other side of a relationship; undefined: everything. */
const factsReadOf = ({ model, assets }: ContextInUse, name: string): readonly string[] | undefined => {
  const formulas = [...model.derived.values()].map(({ reads }) => reads).filter(({ relations }) => relations.has(name));
  const whole = formulas.some((reads) => reads.whole.has(name));
  const byAssets = assets.some(({ inputs }) => inputs.some(({ key }) => key.startsWith(`$relations.${name}`)));
  return whole || byAssets ? undefined : [...new Set(formulas.flatMap(({ related }) => [...related]))];
};

type FindRelated = (instanceId: string) => Facts | null | readonly Facts[];

const loadRelation = async (
  transaction: Transaction,
  context: ContextInUse,
  { name, type, toContextId, foreignKeyFact }: Relationship,
  instances: readonly GivenFacts[],
): Promise<FindRelated> => {
  const facts = factsReadOf(context, name);
  const target = context.modelOf(toContextId);
  const complete = ({ facts: found }: RelatedRecord): Facts => withDefaults(target, found);
  if (type !== 'belongs_to') {
    const ids = instances.map(({ instanceId }) => instanceId);
    const records = await findRelated(transaction, { contextId: toContextId, foreignKeyFact, ids, facts });
    const byId = groupBy(records, ({ ofId }) => ofId);
    const listOf = (id: string): Facts[] => (byId.get(id) ?? []).map(complete);
    return type === 'has_many' ? listOf : (id) => listOf(id)[0] ?? null;
  }
  const keys = new Map(
    instances.map(({ instanceId, facts: own }) => [instanceId, linkedInstance(valueOf(own, foreignKeyFact))]),
  );
  const ids = [...new Set([...keys.values()].filter((id) => id !== undefined))];
  const records = await findRelated(transaction, { contextId: toContextId, foreignKeyFact: undefined, ids, facts });
  const byId = new Map(records.map((record) => [record.instanceId, complete(record)]));
  return (id) => byId.get(keys.get(id) ?? '') ?? null;
};

/** The collections of values that facts of a context are limited to, by name. */
export const loadContextCollections = async (
  transaction: Transaction,
  { model }: ContextInUse,
): Promise<ReadonlyMap<string, readonly unknown[]>> => {
  const names = [...new Set([...model.facts.values()].flatMap(({ collection }) => collection ?? []))];
  return names.length === 0 ? new Map() : loadCollections(transaction, names);
};

/** Collections as the rules of contexts ask for them. */
export const toCollections = (members: ReadonlyMap<string, readonly unknown[]>): Collections => {
  const sets = new Map([...members].map(([name, values]) => [name, new Set(values)]));
  return (name) => sets.get(name);
};
