import { type FlowConnection, type FlowOutput, type FlowValueType } from '@decision/contracts';
import { type AssetField } from './assets';
import { type FlowProblems, offered, shown } from './flow-problem';
import { type ReadNode } from './read-nodes';

/** Type of a value on an edge; `any` if unknown. */
export type EdgeType = FlowValueType;

/** The type of a field's values: values of a formula may have any. */
export const edgeTypeOf = ({ type }: AssetField): EdgeType => (type === 'function' ? 'any' : type);

/** A connection that carries a value from an output to an input. */
export interface DataEdge {
  readonly from: ReadNode;
  readonly output: string;
  readonly to: ReadNode;
  readonly input: string;
  /** JSON pointer of the connection. */
  readonly path: string;
}

/** A connection from a condition that gates a node. */
export interface GateEdge {
  readonly from: ReadNode;
  readonly to: ReadNode;
  readonly path: string;
}

/** Incoming and outgoing connections of each node, in document order. */
export interface Wiring {
  readonly data: readonly DataEdge[];
  readonly gates: readonly GateEdge[];
}

/** Reads the connections between usable nodes. Connections of nodes that have problems are left out without a further problem. */
export const readConnections = (
  connections: readonly FlowConnection[],
  nodes: ReadonlyMap<string, ReadNode>,
  refs: ReadonlySet<string>,
  problems: FlowProblems,
): Wiring => {
  const data: DataEdge[] = [];
  const gates: GateEdge[] = [];
  connections.forEach((connection, index) => {
    const path = `/connections/${index}`;
    for (const end of ['from', 'to'] as const) {
      if (refs.has(connection[end])) continue;
      const message = `The connection ${index} ${end === 'from' ? 'begins' : 'ends'} at "${shown(connection[end])}", which no node is called; refs are: ${offered(refs)}.`;
      problems.add('unknown_node', message, { path: `${path}/${end}`, field: end });
    }
    const from = nodes.get(connection.from);
    const to = nodes.get(connection.to);
    if (from === undefined || to === undefined) return;
    if (connection.control === true) {
      if (mayGate(from, to, path, problems)) gates.push({ from, to, path });
      return;
    }
    const edge = readDataEdge(connection, { from, to, path }, problems);
    if (edge !== undefined) data.push(edge);
  });
  return { data, gates };
};

const mayGate = (from: ReadNode, to: ReadNode, path: string, problems: FlowProblems): boolean => {
  if (from.type !== 'ifelse') {
    const message = `The gate from "${shown(from.ref)}" to "${shown(to.ref)}" does not begin at a condition; gates begin at nodes of type ifelse.`;
    problems.add('misplaced_gate', message, { path, ref: from.ref, field: 'control' });
    return false;
  }
  if (!to.kind.isGateable) {
    const message = `The gate from "${shown(from.ref)}" leads to "${shown(to.ref)}", of type ${to.type}, which always runs; gate what depends on it.`;
    problems.add('misplaced_gate', message, { path, ref: to.ref, field: 'control' });
    return false;
  }
  return true;
};

const readDataEdge = (
  { output, input }: FlowConnection,
  { from, to, path }: GateEdge,
  problems: FlowProblems,
): DataEdge | undefined => {
  const { inputs } = to.kind;
  const between = `from "${shown(from.ref)}" to "${shown(to.ref)}"`;
  if (output === undefined || output === '') {
    const message = `The connection ${between} names no output; set output, or control for a gate.`;
    problems.add('unknown_output', message, { path: `${path}/output`, ref: from.ref, field: 'output' });
    return undefined;
  }
  if (inputs === 'none') {
    const message = `The connection ${between} carries a value to a node of type ${to.type}, which takes none; remove it.`;
    problems.add('misplaced_connection', message, { path, ref: to.ref, field: 'input' });
    return undefined;
  }
  if (from.type === 'vault' && !to.kind.holdsSecrets) {
    const message = `The connection ${between} carries a secret to a node of type ${to.type}; secrets may only enter nodes of type code, api, db and soap.`;
    problems.add('misplaced_secret', message, { path, ref: to.ref, field: 'input' });
    return undefined;
  }
  // A node with a single input accepts any connection, whatever input it names.
  const name = typeof inputs === 'object' ? inputs.only : input === undefined || input === '' ? output : input;
  if (inputs === 'fields') {
    const fields = fieldsOf(to);
    if (!fields.some(({ key }) => key === name)) {
      const message = `The connection ${between} enters the input "${shown(name)}", which "${shown(to.ref)}" does not have${offeredBy(
        to,
        fields.map(({ key }) => key),
      )}.`;
      problems.add('unknown_input', message, { path: `${path}/input`, ref: to.ref, field: name });
      return undefined;
    }
  }
  return { from, output, to, input: name, path };
};

/** The end of a sentence that lists a node's names; empty for an asset that is hidden from the reader. */
export const offeredBy = ({ rule, flow }: ReadNode, names: Iterable<string>): string =>
  (rule ?? flow)?.isHidden === true ? '' : `; it has: ${offered(names)}`;

/** The input fields of the rule or flow that a node runs. */
export const fieldsOf = ({ rule, flow }: ReadNode): readonly AssetField[] => rule?.inputs ?? flow?.inputs ?? [];

/**
 * The outputs of a node with their types, given those of its inputs. Undefined if a node passes its inputs on and their types are unknown.
 */
export const outputsOf = (node: ReadNode, inputTypes: ReadonlyMap<string, EdgeType>): ReadonlyMap<string, EdgeType> => {
  const declared = (node.fields['outputs'] as readonly FlowOutput[] | undefined) ?? []; // the schema of its type was checked
  const own = new Map<string, EdgeType>(Object.entries(node.kind.outputs));
  for (const { key, type = 'any' } of declared) own.set(key, type);
  switch (node.type) {
    case 'origin':
      for (const field of node.rule?.inputs ?? []) own.set(`request_${field.key}`, edgeTypeOf(field));
      for (const field of node.rule?.outputs ?? []) own.set(field.key, edgeTypeOf(field));
      return own;
    case 'rule':
      return typesOfFields(node.rule?.outputs);
    case 'flow':
      return declared.length > 0 ? own : typesOfFields(node.flow?.outputs);
    case 'ifelse':
      return inputTypes;
    case 'aggregate':
      return aggregateOutputs(node, inputTypes);
    case 'lookup':
      return new Map([['value', (node.fields['valueType'] as EdgeType | undefined) ?? 'any']]);
    case 'ai':
      for (const { name, type = 'any' } of node.fields['labels'] as readonly LabelField[]) own.set(name, type);
      return own;
    case 'vault':
      return new Map((node.fields['secrets'] as readonly LabelField[]).map(({ name }) => [name, 'any']));
    case 'result':
    case 'notification':
      return new Map();
    default:
      return own;
  }
};

const typesOfFields = (fields: readonly AssetField[] = []): ReadonlyMap<string, EdgeType> =>
  new Map(fields.map((field) => [field.key, edgeTypeOf(field)]));

interface LabelField {
  readonly name: string;
  readonly type?: EdgeType;
}

const aggregateOutputs = (
  { fields }: ReadNode,
  inputTypes: ReadonlyMap<string, EdgeType>,
): ReadonlyMap<string, EdgeType> => {
  if (fields['mode'] === 'items') return new Map([['items', 'list']]);
  const aggregations = fields['aggregations'] as Readonly<Record<string, { readonly operator?: string }>> | undefined;
  return new Map(
    [...inputTypes].map(([key, type]) => {
      const operator =
        aggregations !== undefined && Object.hasOwn(aggregations, key) ? aggregations[key]?.operator : undefined;
      if (operator === undefined || operator === 'list') return [key, 'list'];
      return [key, operator === 'first' || operator === 'last' ? type : 'number'];
    }),
  );
};
