import { type Collections } from '@decision/contexts';
import { findCollectionGroups, findHistory, loadCollections, type Transaction } from '@decision/persistence';
import { type ContextInUse } from '../definitions/context-directory';
import { loadRelatives } from './related';
import { type GivenFacts, type RequestOrigin, type Surroundings } from './work';

/** Reads what formulas and assets of some instances read beside them: related instances, and history. Throws `deadline_exceeded`. */
export const loadSurroundings = async (
  transaction: Transaction,
  context: ContextInUse,
  instances: readonly GivenFacts[],
  origin: Pick<RequestOrigin, 'now' | 'deadline'>,
): Promise<ReadonlyMap<string, Surroundings>> => {
  const ids = instances.map(({ instanceId }) => instanceId);
  const facts = historyFactsOf(context);
  const limit = context.model.definition.historyLimit;
  const histories = facts.length === 0 ? undefined : await findHistory(transaction, context.id, ids, { facts, limit });
  const relatives = await loadRelatives(transaction, context, instances, origin);
  return new Map(
    [...relatives].map(([id, relative]) => [
      id,
      { ...relative, history: Object.fromEntries(histories?.get(id) ?? []) },
    ]),
  );
};

/** Facts whose history formulas read. */
const historyFactsOf = ({ model }: ContextInUse): string[] => [
  ...new Set([...model.derived.values()].flatMap(({ reads }) => reads.history.filter((fact) => fact !== undefined))),
];

/** The collections of values that facts of a context are limited to, by name. */
export const loadContextCollections = async (
  transaction: Transaction,
  { id, model }: ContextInUse,
): Promise<ReadonlyMap<string, readonly unknown[]>> => {
  const names = [...new Set([...model.facts.values()].flatMap(({ collection }) => collection ?? []))];
  if (names.length === 0) return new Map();
  return loadCollections(transaction, names, await findCollectionGroups(transaction, id));
};

/** Collections as the rules of contexts ask for them. */
export const toCollections = (members: ReadonlyMap<string, readonly unknown[]>): Collections => {
  const sets = new Map([...members].map(([name, values]) => [name, new Set(values)]));
  return (name) => sets.get(name);
};
