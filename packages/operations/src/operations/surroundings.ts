import {
  type Aggregates,
  aggregatesOver,
  type Collections,
  type Facts,
  factsWritten,
  isRecord,
  linkedInstance,
  noHistory,
  RelationFolds,
  type Relationship,
  relationsRead,
  valueOf,
  withDefaults,
} from '@decision/contexts';
import { contextLimits, ServiceError } from '@decision/contracts';
import {
  type Database,
  findHistory,
  findMembers,
  findNamed,
  findRelatedPieces,
  loadCollections,
  type Transaction,
} from '@decision/persistence';
import { type ContextInUse } from '../definitions/context-directory';
import { type GivenFacts, NO_RELATIVES, type Relatives, type RequestOrigin, type Surroundings } from './work';

/** Reads the data that formulas and assets of some instances use beside the instances: related instances, and history. Throws `deadline_exceeded`. */
export const loadSurroundings = async (
  transaction: Transaction,
  context: ContextInUse,
  instances: readonly GivenFacts[],
  origin: Pick<RequestOrigin, 'now' | 'deadline'>,
): Promise<ReadonlyMap<string, Surroundings>> => {
  const ids = instances.map(({ instanceId }) => instanceId);
  const facts = historyFactsOf(context);
  if (facts.length === 0 && context.relations.length === 0) return new Map(ids.map((id) => [id, ALONE]));
  const limit = context.model.definition.historyLimit;
  const histories = facts.length === 0 ? undefined : await findHistory(transaction, context.id, ids, { facts, limit });
  const relatives = await loadRelatives(transaction, context, instances, origin);
  return new Map(
    [...relatives].map(([id, relative]) => [
      id,
      { ...relative, history: (fact: string) => histories?.get(id)?.get(fact) ?? [] },
    ]),
  );
};

/** Surroundings of an instance of which nothing else is read. */
const ALONE: Surroundings = Object.freeze({ ...NO_RELATIVES, history: noHistory });

/** Facts whose history formulas read. */
export const historyFactsOf = ({ model }: ContextInUse): string[] => [
  ...new Set([...model.derived.values()].flatMap(({ reads }) => reads.history.filter((fact) => fact !== undefined))),
];

/** The collections of values, whole, of those facts that bound rules and flows may write: what they will write is not known yet. */
export const loadWrittenCollections = async (
  transaction: Transaction,
  context: ContextInUse,
): Promise<ReadonlyMap<string, readonly unknown[]>> => {
  const names = writtenCollections(context);
  return names.length === 0 ? new Map() : loadCollections(transaction, names, context.id);
};

const writtenCollections = ({ model, assets }: ContextInUse): readonly string[] => {
  const limited = model.limitedFacts;
  if (limited.length === 0) return [];
  const written = new Set(assets.flatMap(factsWritten));
  const mayBeWritten = assets.some(({ type }) => type === 'flow')
    ? limited
    : limited.filter(({ key }) => written.has(key));
  return [...new Set(mayBeWritten.flatMap(({ collection }) => collection ?? []))];
};

const NO_MEMBERS: Collections = () => undefined;

/** The members of collections that the given facts hold; to everything else in them, a collection has no members. */
export const findGivenMembers = async (
  transaction: Transaction,
  { id, model }: ContextInUse,
  records: readonly unknown[],
): Promise<Collections> => {
  const sought = soughtMembers(model, records);
  return sought.size === 0 ? NO_MEMBERS : toCollections(await findMembers(transaction, id, sought));
};

/** {@link findGivenMembers} in a transaction of its own, if there is anything to find. */
export const lookUpMembers = async (
  database: Pick<Database, 'inWorkspace'>,
  { access }: Pick<RequestOrigin, 'access'>,
  { id, model }: ContextInUse,
  records: readonly unknown[],
): Promise<Collections> => {
  const sought = soughtMembers(model, records);
  if (sought.size === 0) return NO_MEMBERS;
  return toCollections(await database.inWorkspace(access, (transaction) => findMembers(transaction, id, sought)));
};

/** The values that records give to facts which are limited to collections, by collection. */
const soughtMembers = (
  { limitedFacts: limited }: ContextInUse['model'],
  records: readonly unknown[],
): ReadonlyMap<string, ReadonlySet<unknown>> => {
  const sought = new Map<string, Set<unknown>>();
  if (limited.length === 0) return sought;
  for (const record of records) {
    if (!isRecord(record)) continue;
    for (const { key, collection = '' } of limited) {
      const value = valueOf(record, key) ?? [];
      const values = sought.get(collection) ?? new Set();
      for (const member of Array.isArray(value) ? (value as readonly unknown[]) : [value]) values.add(member);
      if (values.size > 0) sought.set(collection, values);
    }
  }
  return sought;
};

/** Collections in the form that the rules of contexts use. */
export const toCollections = (members: ReadonlyMap<string, readonly unknown[]>): Collections => {
  const sets = new Map([...members].map(([name, values]) => [name, new Set(values)]));
  return (name) => sets.get(name);
};

/** Query of the instances of one relationship. */
interface RelationQuery {
  readonly transaction: Transaction;
  readonly context: ContextInUse;
  readonly relationship: Relationship;
  readonly instances: readonly GivenFacts[];
  readonly origin: Pick<RequestOrigin, 'now' | 'deadline'>;
}

/** Instances of one relationship of one instance. */
interface FoundRelation {
  /** Undefined: nothing reads the instances themselves, or there are too many (C46). */
  readonly related?: Facts | null | readonly Facts[];
  readonly aggregates?: Aggregates[string];
}

type FindRelation = (instanceId: string) => FoundRelation;

/** Reads the related instances that formulas and assets use, by instance. Throws `deadline_exceeded`. */
export const loadRelatives = async (
  transaction: Transaction,
  context: ContextInUse,
  instances: readonly GivenFacts[],
  origin: RelationQuery['origin'],
): Promise<ReadonlyMap<string, Relatives>> => {
  const relations: [string, FindRelation][] = [];
  for (const relationship of context.relations) {
    const load = relationship.type === 'belongs_to' ? loadNamed : loadHolders;
    relations.push([relationship.name, await load({ transaction, context, relationship, instances, origin })]);
  }
  const relativesOf = (id: string): Relatives => {
    const found = relations.map(([name, find]) => [name, find(id)] as const);
    return {
      related: Object.fromEntries(
        found.flatMap(([name, { related }]) => (related === undefined ? [] : [[name, related] as const])),
      ),
      aggregates: Object.fromEntries(
        found.flatMap(([name, { aggregates }]) => (aggregates === undefined ? [] : [[name, aggregates] as const])),
      ),
    };
  };
  return new Map(instances.map(({ instanceId }) => [instanceId, relativesOf(instanceId)]));
};

/** Parts of related instances that are read, without aggregates. */
type Reading =
  | { readonly of: 'nothing' }
  /** Undefined: everything. */
  | { readonly of: 'instances'; readonly facts: readonly string[] | undefined };

const readingOf = ({ model, assets }: ContextInUse, name: string): Reading => {
  const formulas = [...model.derived.values()]
    .map(({ rest }) => rest.reads)
    .filter(({ relations }) => relations.has(name));
  const byAssets = assets.some((asset) => relationsRead(asset).includes(name));
  if (!byAssets && formulas.length === 0) return { of: 'nothing' };
  const whole = byAssets || formulas.some((reads) => reads.whole.has(name));
  return { of: 'instances', facts: whole ? undefined : [...new Set(formulas.flatMap(({ related }) => [...related]))] };
};

/** Instances that the given ones name by their foreign key. */
const loadNamed = async ({ transaction, context, relationship, instances }: RelationQuery): Promise<FindRelation> => {
  const { name, toContextId, foreignKeyFact } = relationship;
  const reading = readingOf(context, name);
  const target = context.modelOf(toContextId);
  const keys = new Map(
    instances.map(({ instanceId, facts: own }) => [instanceId, linkedInstance(valueOf(own, foreignKeyFact))]),
  );
  const ids = [...new Set([...keys.values()].filter((id) => id !== undefined))];
  const facts = reading.of === 'nothing' ? [] : reading.facts;
  const records = await findNamed(transaction, { contextId: toContextId, ids, facts });
  const byId = new Map(records.map(({ instanceId, facts: found }) => [instanceId, withDefaults(target, found)]));
  return (id) => ({ related: byId.get(keys.get(id) ?? '') ?? null });
};

/** Links that one statement follows: the bound of memory at a time, beside relations that are read as a list. */
const PIECE = 2_000;

/**
 * Instances whose foreign key names the given ones. Aggregates are computed piece by piece, in memory independent of the number of
 * instances (C45, ADR 20).
 */
const loadHolders = async (query: RelationQuery): Promise<FindRelation> => {
  const { context, relationship, instances, origin } = query;
  const isList = relationship.type === 'has_many';
  const aggregates = isList ? aggregatesOver(context.model, relationship.name) : [];
  const reading = readingOf(context, relationship.name);
  const folds = new Map(instances.map(({ instanceId }) => [instanceId, new RelationFolds(aggregates, origin.now)]));
  const lists = new Map(
    instances.map(({ instanceId }): [string, RelatedList] => [instanceId, { items: [], bytes: 0 }]),
  );
  for await (const { ofId, related, bytes } of piecesFor(query, reading, aggregates)) {
    if (Date.now() >= origin.deadline) throw tooLate();
    folds.get(ofId)?.add(related);
    const list = lists.get(ofId);
    if (reading.of === 'nothing' || list === undefined) continue;
    if (isList) extend(list, related, bytes);
    else if (list.items.length === 0) list.items.push(...related.slice(0, 1));
  }
  return (id) => {
    const { items, bytes } = lists.get(id) ?? { items: [], bytes: 0 };
    if (!isList) return { related: items[0] ?? null };
    const aggregated = folds.get(id)?.result() ?? { instances: 0, answers: {} };
    if (reading.of === 'nothing') return { aggregates: aggregated };
    if (bytes > contextLimits.relatedBytes) return { aggregates: { ...aggregated, listBytes: bytes } };
    return { aggregates: aggregated, related: items };
  };
};

/** List of the instances that are related to one. */
interface RelatedList {
  items: Facts[];
  /** Size of the list as JSON, bytes; a list that is too large is not kept. */
  bytes: number;
}

const extend = (list: RelatedList, related: readonly Facts[], bytes: number): void => {
  list.bytes += bytes;
  if (list.bytes > contextLimits.relatedBytes) list.items = [];
  else for (const facts of related) list.items.push(facts);
};

/** Beyond this number, facts are not read one by one: the database limits the arguments of one function. */
const MOST_NAMED = 100;

/** Related instances as formulas see them, in pieces, with only the facts that are read. */
async function* piecesFor(
  { transaction, context, relationship, instances }: RelationQuery,
  reading: Reading,
  aggregates: ReturnType<typeof aggregatesOver>,
): AsyncGenerator<{ readonly ofId: string; readonly related: readonly Facts[]; readonly bytes: number }> {
  const { type, toContextId, foreignKeyFact } = relationship;
  const target = context.modelOf(toContextId);
  const listed = reading.of === 'instances' ? (reading.facts ?? []) : [];
  const named = [...new Set([...listed, ...aggregates.flatMap(({ facts }) => [...facts])])];
  const isWhole = (reading.of === 'instances' && reading.facts === undefined) || named.length > MOST_NAMED;
  const wanted = named.map((key) => ({ key, defaultValue: target.facts.get(key)?.defaultValue ?? null }));
  const pieces = findRelatedPieces(transaction, {
    ...{ contextId: toContextId, foreignKeyFact, most: PIECE },
    ids: instances.map(({ instanceId }) => instanceId),
    facts: isWhole ? undefined : wanted,
    mostBytesOfEach: aggregates.length > 0 ? undefined : type === 'has_one' ? 1 : contextLimits.relatedBytes,
  });
  for await (const { ofId, related, bytes } of pieces)
    yield { ofId, bytes, related: isWhole ? related.map((found) => withDefaults(target, found)) : related };
}

const tooLate = (): ServiceError =>
  new ServiceError('deadline_exceeded', 'The deadline passed before every related instance was read.');
