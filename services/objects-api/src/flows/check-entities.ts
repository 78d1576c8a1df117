import { readSchema } from '@decision/contexts';
import { type FlowGraph, type FlowNode } from '@decision/contracts';
import { asWorkspace, loadContextWorld, type StoredContextWorld, type Transaction } from '@decision/persistence';
import { type FlowProblem } from './check-code';

/** Maximum number of problems that an import names. */
const MAX_PROBLEMS = 100;

/** A context as an entity node may use it. */
interface EntityContext {
  readonly slug: string;
  readonly identityFact: string;
  /** Facts that a node may read. */
  readonly readable: ReadonlySet<string>;
  /** Facts that a node may write. */
  readonly writable: ReadonlySet<string>;
  /** Whether undeclared facts are kept. */
  readonly storesOthers: boolean;
  readonly relations: ReadonlySet<string>;
}

type Tell = (field: string, message: string) => void;

/**
 * Reasons why entity nodes cannot work as they stand (CN-116): contexts that the access does not see, facts and relationships that a context
 * does not have. A node that already named its context keeps it, whoever sees it; nothing of that context is reported then.
 */
export const problemsOfEntities = async (
  transaction: Transaction,
  { nodes, connections }: Required<FlowGraph>,
  stored: FlowGraph | undefined,
): Promise<readonly FlowProblem[]> => {
  const entities = [...nodes.entries()].filter(([, { type }]) => type === 'entity');
  if (entities.length === 0) return [];
  const contexts = contextsOf(await loadContextWorld(transaction));
  const kept = await keptContexts(transaction, stored);
  const problems: FlowProblem[] = [];
  for (const [position, node] of entities) {
    const tell: Tell = (field, message) =>
      problems.push({
        ...{ code: 'invalid_entity', message, path: `/nodes/${position}/${field}`, ref: node.ref, field },
      });
    const slug = String(node['entitySlug']);
    const context = contexts.get(slug);
    if (context !== undefined) tellFaults(node, inputsOf(node, connections), context, tell);
    else if (!kept.has(nameOf(node)))
      tell(
        'entitySlug',
        `The node "${shown(node.ref)}" names the context "${shown(slug)}", which does not exist or is not visible to this key; create it, or name another one.`,
      );
    if (problems.length >= MAX_PROBLEMS) break;
  }
  return problems.slice(0, MAX_PROBLEMS);
};

const contextsOf = ({ contexts, relationships }: StoredContextWorld): ReadonlyMap<string, EntityContext> =>
  new Map(
    contexts.map(({ id, slug, schema, identityFact, onSchemaMismatch }) => {
      const { facts, derived } = readSchema(schema, identityFact);
      const writable = [...facts.values()].filter(({ outputOnly }) => !outputOnly).map(({ key }) => key);
      const relations = relationships.filter(({ fromContextId }) => fromContextId === id).map(({ name }) => name);
      return [
        slug,
        {
          ...{ slug, identityFact, storesOthers: onSchemaMismatch === 'store' },
          readable: new Set([...facts.keys(), ...derived.keys()]),
          writable: new Set(writable),
          relations: new Set(relations),
        },
      ];
    }),
  );

/** Nodes of the stored flow that name an existing context, whether or not the access sees it (V3). */
const keptContexts = async (transaction: Transaction, stored: FlowGraph | undefined): Promise<ReadonlySet<string>> => {
  const entities = (stored?.nodes ?? []).filter(({ type }) => type === 'entity');
  if (entities.length === 0) return new Set();
  const { contexts } = await asWorkspace(transaction, () => loadContextWorld(transaction));
  const slugs = new Set(contexts.map(({ slug }) => slug));
  return new Set(entities.filter((node) => slugs.has(String(node['entitySlug']))).map(nameOf));
};

const nameOf = (node: FlowNode): string => JSON.stringify([node.ref, node['entitySlug']]);

const inputsOf = ({ ref }: FlowNode, connections: Required<FlowGraph>['connections']): readonly string[] =>
  connections
    .filter(({ to, control }) => to === ref && control !== true)
    .map(({ input, output }) => input ?? output ?? '');

const tellFaults = (node: FlowNode, inputs: readonly string[], context: EntityContext, tell: Tell): void => {
  const { operation = 'read' } = node;
  const isBatch = operation === 'batch_update';
  if (isBatch && !inputs.includes('records'))
    tell('operation', `The node "${shown(node.ref)}" takes its records from the input "records"; connect it.`);
  if (!isBatch) tellIdentity(node, inputs, context, tell);
  tellOutputs(node, operation, context, tell);
  tellRelations(node, context, tell);
  if (operation === 'update' || isBatch) tellWrites(node, isBatch ? [] : inputs, context, tell);
};

const tellIdentity = (node: FlowNode, inputs: readonly string[], { identityFact }: EntityContext, tell: Tell): void => {
  const key = identityKeyOf(node, identityFact);
  if (inputs.includes(key) || Object.hasOwn(recordOf(node['updateValues']), identityFact)) return;
  tell(
    'identityFieldKey',
    `The node "${shown(node.ref)}" names no instance: connect its input "${shown(key)}", or give "${shown(identityFact)}" in updateValues.`,
  );
};

const tellOutputs = (node: FlowNode, operation: unknown, context: EntityContext, tell: Tell): void => {
  const hasFacts = operation === 'read' || operation === 'update';
  const own = new Set(hasFacts ? ['state', '$relations'] : operation === 'batch_update' ? ['results'] : []);
  for (const output of listOf(node['outputs'])) {
    const key = firstPart(String(recordOf(output)['key']));
    if (own.has(key) || (hasFacts && (context.readable.has(key) || context.storesOthers))) continue;
    tell(
      'outputs',
      hasFacts
        ? `The node "${shown(node.ref)}" answers "${shown(key)}", which is not a fact of the context "${shown(context.slug)}".`
        : `The node "${shown(node.ref)}" answers no facts: a batch_update answers "results", and a delete nothing.`,
    );
  }
};

const tellRelations = (node: FlowNode, { slug, relations }: EntityContext, tell: Tell): void => {
  for (const [name, chosen] of Object.entries(recordOf(node['includeRelations'])))
    if (chosen === true && !relations.has(name))
      tell(
        'includeRelations',
        `The node "${shown(node.ref)}" includes "${shown(name)}", which is no relationship of the context "${shown(slug)}" that is visible to this key.`,
      );
};

const tellWrites = (node: FlowNode, inputs: readonly string[], context: EntityContext, tell: Tell): void => {
  const { slug, identityFact, writable, storesOthers, readable } = context;
  const identityKey = identityKeyOf(node, identityFact);
  const chosen = node['selectedUpdateFields'];
  const ofInputs =
    chosen === undefined
      ? inputs.map(firstPart).filter((name) => name !== identityKey)
      : Object.keys(recordOf(chosen)).filter((name) => recordOf(chosen)[name] === true);
  const writes: [field: string, fact: string][] = [
    ...ofInputs.map((fact): [string, string] => [chosen === undefined ? 'operation' : 'selectedUpdateFields', fact]),
    ...Object.keys(recordOf(node['updateValues'])).map((fact): [string, string] => ['updateValues', fact]),
  ];
  for (const [field, fact] of writes) {
    if (writable.has(fact) || (storesOthers && !readable.has(fact))) continue;
    const fault = readable.has(fact) ? 'is derived, or written by bound rules and flows alone' : 'is not a fact of it';
    tell(
      field,
      `The node "${shown(node.ref)}" writes "${shown(fact)}" to the context "${shown(slug)}", but that ${fault}.`,
    );
  }
};

const identityKeyOf = ({ identityFieldKey }: FlowNode, identityFact: string): string =>
  typeof identityFieldKey === 'string' ? identityFieldKey : identityFact;

/** The fact at the start of a dotted key. */
const firstPart = (key: string): string => key.split('.', 1)[0] ?? key;

/** The check of the flow has already verified the types of the fields. */
const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const shown = (name: string): string => (name.length > 100 ? `${name.slice(0, 100)}...` : name);
