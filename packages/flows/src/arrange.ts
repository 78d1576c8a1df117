import { type FlowProblems, shown } from './flow-problem';
import { type ReadNode } from './read-nodes';
import { type DataEdge, type EdgeType, type GateEdge, offeredBy, outputsOf, type Wiring } from './wiring';

/** A node with its incoming connections, and the loops around it. */
export interface ArrangedNode {
  readonly node: ReadNode;
  /** Connections by input, in document order. */
  readonly inputs: ReadonlyMap<string, readonly DataEdge[]>;
  readonly gates: readonly GateEdge[];
  /** Types of the incoming values, by input. */
  readonly inputTypes: ReadonlyMap<string, EdgeType>;
  readonly outputTypes: ReadonlyMap<string, EdgeType>;
  /** The loops around it, outermost first. */
  readonly loops: readonly ReadNode[];
  /** The loop that it closes, if it is an aggregate. */
  readonly closes?: ReadNode;
}

/** Every node that can be reached without a problem, in dependency order; ties are in document order. */
export const arrange = (
  nodes: ReadonlyMap<string, ReadNode>,
  wiring: Wiring,
  problems: FlowProblems,
): ReadonlyMap<ReadNode, ArrangedNode> => {
  const before = new Map<ReadNode, Set<ReadNode>>([...nodes.values()].map((node) => [node, new Set()]));
  for (const { from, to } of [...wiring.data, ...wiring.gates]) before.get(to)?.add(from);
  const order = orderOf(before, problems);
  const data = groupBy(wiring.data);
  const gates = groupBy(wiring.gates);
  const arranged = new Map<ReadNode, ArrangedNode>();
  for (const node of order) {
    const usable = (data.get(node) ?? []).filter((edge) => hasOutput(edge, arranged, problems));
    arranged.set(node, placeNode(node, { data: usable, gates: gates.get(node) ?? [] }, arranged, problems));
  }
  return arranged;
};

const groupBy = <E extends GateEdge>(edges: readonly E[]): ReadonlyMap<ReadNode, readonly E[]> => {
  const groups = new Map<ReadNode, E[]>();
  for (const edge of edges) {
    const group = groups.get(edge.to);
    if (group === undefined) groups.set(edge.to, [edge]);
    else group.push(edge);
  }
  return groups;
};

/** Sorts nodes by dependency. Nodes of a cycle are left out, and one cycle is reported. */
export const orderOf = <T extends { readonly ref: string; readonly position: number }>(
  before: ReadonlyMap<T, ReadonlySet<T>>,
  problems: FlowProblems,
  why = 'lead back to where they began',
): readonly T[] => {
  const after = new Map<T, T[]>();
  const left = new Map<T, number>();
  for (const [item, needed] of before) {
    left.set(item, needed.size);
    for (const one of needed) after.set(one, [...(after.get(one) ?? []), item]);
  }
  const ready = [...before.keys()].filter((item) => left.get(item) === 0).sort(byPosition);
  const order: T[] = [];
  for (let next = ready.shift(); next !== undefined; next = ready.shift()) {
    order.push(next);
    for (const item of after.get(next) ?? []) {
      const count = (left.get(item) ?? 0) - 1;
      left.set(item, count);
      if (count === 0) insertSorted(ready, item);
    }
  }
  if (order.length < before.size) tellCycle(before, new Set(order), problems, why);
  return order;
};

const byPosition = (a: { readonly position: number }, b: { readonly position: number }): number =>
  a.position - b.position;

const insertSorted = <T extends { readonly position: number }>(ready: T[], item: T): void => {
  const index = ready.findIndex(({ position }) => position > item.position);
  ready.splice(index < 0 ? ready.length : index, 0, item);
};

/** Walks back from a node that was never ready until a node repeats. */
const tellCycle = <T extends { readonly ref: string; readonly position: number }>(
  before: ReadonlyMap<T, ReadonlySet<T>>,
  sorted: ReadonlySet<T>,
  problems: FlowProblems,
  why: string,
): void => {
  const walked: T[] = [];
  let item = [...before.keys()].find((one) => !sorted.has(one));
  while (item !== undefined && !walked.includes(item)) {
    walked.push(item);
    item = [...(before.get(item) ?? [])].find((one) => !sorted.has(one));
  }
  if (item === undefined) return;
  const cycle = [...walked.slice(walked.indexOf(item)), item].reverse();
  const message = `The connections ${cycle.map(({ ref }) => `"${shown(ref)}"`).join(' -> ')} ${why}; remove one of them.`;
  problems.add('cycle', message, { path: `/nodes/${item.position}`, ref: item.ref });
};

const hasOutput = (
  { from, output, path }: DataEdge,
  arranged: ReadonlyMap<ReadNode, ArrangedNode>,
  problems: FlowProblems,
): boolean => {
  const outputs = arranged.get(from)?.outputTypes ?? new Map<string, EdgeType>();
  if (outputs.has(output)) return true;
  const message = `The output "${shown(output)}" of the node "${shown(from.ref)}" does not exist${offeredBy(from, outputs.keys())}.`;
  problems.add('unknown_output', message, { path: `${path}/output`, ref: from.ref, field: output });
  return false;
};

const placeNode = (
  node: ReadNode,
  { data, gates }: Wiring,
  arranged: ReadonlyMap<ReadNode, ArrangedNode>,
  problems: FlowProblems,
): ArrangedNode => {
  const inputs = new Map<string, DataEdge[]>();
  const inputTypes = new Map<string, EdgeType>();
  for (const edge of data) {
    const type = arranged.get(edge.from)?.outputTypes.get(edge.output) ?? 'any';
    const known = inputTypes.get(edge.input);
    inputs.set(edge.input, [...(inputs.get(edge.input) ?? []), edge]);
    inputTypes.set(edge.input, known === undefined || known === type ? type : 'any');
  }
  const inside = commonLoops(node, [...data, ...gates], arranged, problems);
  const base = { node, inputs, gates, inputTypes, outputTypes: outputsOf(node, inputTypes) };
  if (node.type !== 'aggregate') return { ...base, loops: inside };
  const closes = inside.at(-1);
  if (closes === undefined) addLoopProblem(node, 'closes no loop; connect it to nodes inside a foreach', problems);
  const stray = data.find(({ from }) => loopsBehind(from, arranged).length < inside.length);
  if (closes !== undefined && stray !== undefined) {
    const fault = `takes "${shown(stray.output)}" from outside of the loop "${shown(closes.ref)}" that it closes; use that value after the aggregate`;
    addLoopProblem(node, fault, problems);
  }
  return { ...base, loops: inside.slice(0, -1), ...(closes === undefined ? {} : { closes }) };
};

/** The loops around the outputs of a node. */
const loopsBehind = (node: ReadNode, arranged: ReadonlyMap<ReadNode, ArrangedNode>): readonly ReadNode[] => {
  const loops = arranged.get(node)?.loops ?? [];
  return node.type === 'foreach' ? [...loops, node] : loops;
};

/** The innermost loops of a node's inputs; all others must enclose them (FL-41). */
const commonLoops = (
  node: ReadNode,
  edges: readonly GateEdge[],
  arranged: ReadonlyMap<ReadNode, ArrangedNode>,
  problems: FlowProblems,
): readonly ReadNode[] => {
  let innermost: readonly ReadNode[] = [];
  for (const { from } of edges) {
    const loops = loopsBehind(from, arranged);
    const [long, short] = loops.length > innermost.length ? [loops, innermost] : [innermost, loops];
    const other = short.findIndex((loop, depth) => long[depth] !== loop);
    if (other >= 0) {
      const fault = `is in the loops "${shown(short[other]?.ref ?? '')}" and "${shown(long[other]?.ref ?? '')}" at the same time; close one of them with an aggregate first`;
      addLoopProblem(node, fault, problems);
      return innermost;
    }
    innermost = long;
  }
  return innermost;
};

const addLoopProblem = ({ ref, position }: ReadNode, fault: string, problems: FlowProblems): void => {
  problems.add('invalid_loop', `The node "${shown(ref)}" ${fault}.`, { path: `/nodes/${position}`, ref });
};
