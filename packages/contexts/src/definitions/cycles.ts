import { type ContextDefinition, type ContextWorld, type DerivedModel, type Relationship } from './context-model';

/** Dependencies of each node, by name. */
type Dependencies = ReadonlyMap<string, readonly string[]>;

type Ordering =
  | { readonly ok: true; readonly order: readonly string[] }
  /** A cycle, with its first node repeated at its end. */
  | { readonly ok: false; readonly cycle: readonly string[] };

interface Visit {
  readonly node: string;
  /** Dependencies not visited yet. */
  readonly open: string[];
}

/**
 * Orders nodes so that each follows its dependencies; ties keep the order of the map. Dependencies that are not nodes are ignored. Walks
 * without recursion, in time linear in nodes and dependencies.
 */
export const orderByDependency = (dependencies: Dependencies): Ordering => {
  const order: string[] = [];
  const finished = new Set<string>();
  const begin = (node: string): Visit => ({ node, open: [...(dependencies.get(node) ?? [])].reverse() });
  for (const root of dependencies.keys()) {
    if (finished.has(root)) continue;
    const trail: Visit[] = [begin(root)];
    const onTrail = new Set([root]);
    for (let visit = trail.at(-1); visit !== undefined; visit = trail.at(-1)) {
      const next = visit.open.pop();
      if (next === undefined) {
        order.push(visit.node);
        finished.add(visit.node);
        onTrail.delete(visit.node);
        trail.pop();
      } else if (onTrail.has(next)) {
        const nodes = trail.map(({ node }) => node);
        return { ok: false, cycle: [...nodes.slice(nodes.indexOf(next)), next] };
      } else if (dependencies.has(next) && !finished.has(next)) {
        trail.push(begin(next));
        onTrail.add(next);
      }
    }
  }
  return { ok: true, order };
};

/** The part of a context that the search for cycles reads. */
interface ContextReading {
  readonly derived: ReadonlyMap<string, DerivedModel>;
  readonly relations: ReadonlyMap<string, Relationship>;
}

/**
 * A cycle of derived facts through relationships (C9), as a list of `slug.fact`; undefined if there is none. Only contexts reachable from
 * the given one are searched, since a new cycle contains the saved context.
 */
export const findCycleAcross = (
  contextId: string,
  { contexts }: ContextWorld,
  read: (definition: ContextDefinition) => ContextReading,
): readonly string[] | undefined => {
  const readings = new Map<string, ContextReading>();
  const open = [contextId];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const definition = contexts.get(id);
    if (definition === undefined || readings.has(id)) continue;
    const reading = read(definition);
    readings.set(id, reading);
    open.push(...[...reading.relations.values()].map(({ toContextId }) => toContextId));
  }
  const slugOf = (id: string): string => contexts.get(id)?.slug ?? id;
  // Readers of whole instances depend on one node that stands for all derived facts of the other context. With an edge per fact the number
  // of edges would be quadratic.
  const dependencies = new Map<string, readonly string[]>();
  for (const [id, { derived, relations }] of readings) {
    dependencies.set(
      allOf(slugOf(id)),
      [...derived.keys()].map((key) => `${slugOf(id)}.${key}`),
    );
    for (const [key, model] of derived) {
      const own = [...model.reads.facts].filter((fact) => derived.has(fact)).map((fact) => `${slugOf(id)}.${fact}`);
      dependencies.set(`${slugOf(id)}.${key}`, [...own, ...readAcross(model, relations, readings, slugOf)]);
    }
  }
  const ordering = orderByDependency(dependencies);
  if (ordering.ok) return undefined;
  const isFact = (name: string): boolean => !name.endsWith(ALL);
  const facts = ordering.cycle.filter(isFact);
  const [first] = facts;
  // The cycle may have been entered at a node that is not a fact.
  return facts.length > 1 && first === facts.at(-1) ? facts : [...facts, ...facts.slice(0, 1)];
};

/** Ends the name of the node for all derived facts of a context; no name of a fact contains a dot. */
const ALL = '..';
const allOf = (slug: string): string => `${slug}${ALL}`;

/** Derived facts of other contexts that a formula may read. */
const readAcross = (
  { reads }: DerivedModel,
  relations: ReadonlyMap<string, Relationship>,
  readings: ReadonlyMap<string, ContextReading>,
  slugOf: (id: string) => string,
): string[] =>
  [...reads.relations].flatMap((name) => {
    const target = relations.get(name)?.toContextId;
    if (target === undefined) return [];
    if (reads.whole.has(name)) return [allOf(slugOf(target))];
    const derived = readings.get(target)?.derived;
    return [...reads.related].filter((key) => derived?.has(key) === true).map((key) => `${slugOf(target)}.${key}`);
  });
