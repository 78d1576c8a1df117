import { type ContextDefinition, type ContextWorld, type Relationship } from './context-definition';
import { type DerivedModel } from './context-model';
import { orderByDependency } from './order-facts';

/** What finding circles needs to know of a context. */
export interface ContextReading {
  readonly derived: ReadonlyMap<string, DerivedModel>;
  readonly relations: ReadonlyMap<string, Relationship>;
}

/**
 * A circle of derived facts that goes through relationships (C9), as `slug.fact` along it; undefined where there is none. Only contexts
 * that can be reached from the given one are looked at: a new circle goes through what was saved.
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
  const dependencies = new Map<string, readonly string[]>();
  for (const [id, { derived, relations }] of readings) {
    for (const [key, model] of derived) {
      const own = [...model.reads.facts].filter((fact) => derived.has(fact)).map((fact) => `${slugOf(id)}.${fact}`);
      dependencies.set(`${slugOf(id)}.${key}`, [...own, ...readAcross(model, relations, readings, slugOf)]);
    }
  }
  const ordering = orderByDependency(dependencies);
  return ordering.ok ? undefined : ordering.cycle;
};

/** Derived facts of other contexts that a formula may read. */
const readAcross = (
  { reads }: DerivedModel,
  relations: ReadonlyMap<string, Relationship>,
  readings: ReadonlyMap<string, ContextReading>,
  slugOf: (id: string) => string,
): string[] =>
  [...reads.relations].flatMap((name) => {
    const target = relations.get(name)?.toContextId;
    const keys = target === undefined ? [] : [...(readings.get(target)?.derived.keys() ?? [])];
    const isRead = (key: string): boolean => reads.whole.has(name) || reads.related.has(key);
    return keys.filter(isRead).map((key) => `${slugOf(target ?? '')}.${key}`);
  });
