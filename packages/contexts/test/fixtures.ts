import { type BaseFact, definitionDefaults, type DerivedFact, type SchemaMismatchPolicy } from '@decision/contracts';
import {
  compileContext,
  type ContextDefinition,
  type ContextModel,
  type ContextWorld,
  type DerivationSources,
  type Relationship,
} from '../src/index';

export const NOW = Date.UTC(2026, 0, 15, 9, 30);

/** Short notation of facts: `total: 'number!'` is a required number. */
export const base = (facts: Readonly<Record<string, string>>): BaseFact[] =>
  Object.entries(facts).map(([key, type]) => ({
    key,
    type: type.replace(/!$/, '') as BaseFact['type'], // spelt correctly by the test
    required: type.endsWith('!'),
  }));

export const derived = (facts: Readonly<Record<string, string>>): DerivedFact[] =>
  Object.entries(facts).map(([key, expression]) => ({ key, expression }));

export interface DefinitionParts extends Partial<Omit<ContextDefinition, 'schema'>> {
  readonly base?: readonly BaseFact[];
  readonly derived?: readonly DerivedFact[];
}

/** A context whose identity is the string `id`, by default. */
export const definition = ({
  base: facts = [],
  derived: formulas = [],
  ...rest
}: DefinitionParts = {}): ContextDefinition => ({
  ...definitionDefaults,
  id: rest.slug ?? 'orders',
  slug: 'orders',
  identityFact: 'id',
  ...rest,
  schema: { base: [{ key: 'id', type: 'string' }, ...facts], derived: [...formulas] },
});

export const world = (
  contexts: readonly ContextDefinition[],
  relationships: readonly Relationship[] = [],
): ContextWorld => ({
  contexts: new Map(contexts.map((context) => [context.id, context])),
  relationships,
});

export const relationship = (parts: Partial<Relationship> & Pick<Relationship, 'name'>): Relationship => ({
  id: parts.name,
  type: 'has_many',
  fromContextId: 'customers',
  toContextId: 'orders',
  foreignKeyFact: 'customer_id',
  ...parts,
});

/** The model of a context that has no problem. */
export const modelOf = (parts: DefinitionParts = {}, others: ContextWorld = world([])): ContextModel => {
  const own = definition(parts);
  const compilation = compileContext(own, {
    contexts: new Map([...others.contexts, [own.id, own]]),
    relationships: others.relationships,
  });
  if (!compilation.ok) throw new Error(JSON.stringify(compilation.problems));
  return compilation.model;
};

export const withPolicy = (onSchemaMismatch: SchemaMismatchPolicy, parts: DefinitionParts = {}): ContextModel =>
  modelOf({ ...parts, onSchemaMismatch });

export const alone: DerivationSources = { now: NOW, related: {} };
export const noCollections = (): undefined => undefined;

/** The worked example: customers have orders, whose totals they sum up. */
export const customersAndOrders = (): {
  customers: ContextDefinition;
  orders: ContextDefinition;
  world: ContextWorld;
} => {
  const customers = definition({
    slug: 'customers',
    base: base({ name: 'string!', vip: 'boolean' }),
    derived: derived({ spent: "sum($orders, 'total')", order_count: 'count($orders)' }),
  });
  const orders = definition({ slug: 'orders', base: base({ customer_id: 'string', total: 'number!' }) });
  return { customers, orders, world: world([customers, orders], [relationship({ name: 'orders' })]) };
};
