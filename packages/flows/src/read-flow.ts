import { type FlowConnection, type FlowGraph, type FlowNode } from '@decision/contracts';
import { arrange, type ArrangedNode } from './arrange';
import { type FlowAsset, type FlowAssets } from './assets';
import { type FlowProblem, FlowProblems, shown } from './flow-problem';
import { typeNamed } from './node-kinds';
import { type ReadNode, readNodes } from './read-nodes';
import { readConnections, type Wiring } from './wiring';

/** Bounds of a flow document (FL-4, FL-82). */
export interface FlowLimits {
  /** Nodes of a flow; ten times as many connections are allowed. Default 1,000. */
  readonly nodes?: number;
  /** Nesting depth of flows, including itself. Default 16. */
  readonly depth?: number;
}

/** A published flow runs regardless of the current limits. */
export const WITHOUT_LIMITS: FlowLimits = { nodes: Infinity, depth: Infinity };

/** Identity of the flow: it must not run itself through its subflows. */
export interface FlowIdentity {
  readonly id?: string | undefined;
  readonly slug?: string | undefined;
}

/** The result of reading a flow; without problems it can be compiled. */
export interface ReadFlow {
  readonly problems: readonly FlowProblem[];
  /** The canonical form that is stored. */
  readonly graph: { readonly nodes: readonly FlowNode[]; readonly connections: readonly FlowConnection[] };
  readonly nodes: ReadonlyMap<ReadNode, ArrangedNode>;
  readonly wiring: Wiring;
}

/** Reads a flow document whose schema was checked, and finds every problem in it (FL-3). */
export const readFlow = (
  graph: FlowGraph,
  assets: FlowAssets,
  identity: FlowIdentity = {},
  { nodes: maxNodes = 1_000, depth = 16 }: FlowLimits = {},
): ReadFlow => {
  const problems = new FlowProblems();
  const { nodes, connections = [] } = graph;
  const maxConnections = 10 * maxNodes;
  if (nodes.length > maxNodes || connections.length > maxConnections) {
    const message = `The flow has ${nodes.length} nodes and ${connections.length} connections; at most ${maxNodes} nodes and ${maxConnections} connections make a flow: move parts of it into subflows.`;
    problems.add('too_large', message, { path: '/nodes' });
    return {
      problems: problems.list,
      graph: { nodes, connections },
      nodes: new Map(),
      wiring: { data: [], gates: [] },
    };
  }
  const read = readNodes(nodes, assets, problems);
  checkRoles(nodes, read, problems);
  checkSubflows([...read.values()], identity, depth, problems);
  const wiring = readConnections(connections, read, new Set(nodes.map(({ ref }) => ref)), problems);
  const arranged = arrange(read, wiring, problems);
  checkResults(arranged, problems);
  const canonical = nodes.map((node) => read.get(node.ref)?.fields ?? node);
  return { problems: problems.list, graph: { nodes: canonical, connections }, nodes: arranged, wiring };
};

/** FL-4. Nodes with problems of their own count: their types are known. */
const checkRoles = (nodes: readonly FlowNode[], read: ReadonlyMap<string, ReadNode>, problems: FlowProblems): void => {
  const known = [...read.values()];
  const [first, ...others] = nodes.flatMap(({ ref, type }, position) =>
    typeNamed(type) === 'origin' ? [{ ref, position }] : [],
  );
  if (first === undefined) {
    problems.add('missing_origin', 'The flow has no node of type origin; add one that names the rule of its input.', {
      path: '/nodes',
    });
  }
  for (const { ref, position } of others) {
    const message = `The node "${shown(ref)}" is a second origin beside "${shown(first?.ref ?? '')}"; a flow has exactly one.`;
    problems.add('several_origins', message, { path: `/nodes/${position}`, ref, field: 'type' });
  }
  if (known.length === nodes.length && !known.some(({ type }) => type === 'result')) {
    problems.add('missing_result', 'The flow has no node of type result, so that it would answer nothing; add one.', {
      path: '/nodes',
    });
  }
};

/** FL-6 and FL-82. */
const checkSubflows = (
  nodes: readonly ReadNode[],
  identity: FlowIdentity,
  maxDepth: number,
  problems: FlowProblems,
): void => {
  for (const { ref, position, flow } of nodes) {
    if (flow === undefined) continue;
    const path = `/nodes/${position}/flow`;
    const chain = chainTo(flow, identity);
    if (chain !== undefined) {
      const shownChain = [identity.slug ?? 'this flow', ...chain].map((slug) => `"${shown(slug)}"`).join(' -> ');
      const message = `The node "${shown(ref)}" makes the flow run itself: ${shownChain}; run another flow.`;
      problems.add('cycle', message, { path, ref, field: 'flow' });
    }
    if (flow.depth >= maxDepth) {
      const message = `The node "${shown(ref)}" runs a flow that nests ${flow.depth} deep; with this one that is more than ${maxDepth}; have fewer flows run each other.`;
      problems.add('too_deep', message, { path, ref, field: 'flow' });
    }
  }
};

/** The slugs from a flow to the one being read; undefined if that is not among its subflows. */
const chainTo = (flow: FlowAsset, { id, slug }: FlowIdentity): readonly string[] | undefined => {
  const seen = new Set<FlowAsset>();
  const walk = (one: FlowAsset): readonly string[] | undefined => {
    if ((id !== undefined && one.id === id) || (slug !== undefined && one.slug === slug)) return [one.slug];
    if (seen.has(one)) return undefined;
    seen.add(one);
    for (const inner of one.subflows) {
      const chain = walk(inner);
      if (chain !== undefined) return [one.slug, ...chain];
    }
    return undefined;
  };
  return walk(flow);
};

/** FL-48 and FL-61. */
const checkResults = (arranged: ReadonlyMap<ReadNode, ArrangedNode>, problems: FlowProblems): void => {
  const byKey = new Map<string, ArrangedNode>();
  for (const one of [...arranged.values()].sort((a, b) => a.node.position - b.node.position)) {
    const { node, loops } = one;
    if (node.type !== 'result') continue;
    const key = (node.fields['key'] as string | undefined) ?? ''; // the schema of its type was checked
    const place = { path: `/nodes/${node.position}/key`, ref: node.ref, field: 'key' };
    const loop = loops.at(-1);
    if (key === '' && loop !== undefined && node.fields['immediateExit'] !== true) {
      const message = `The result "${shown(node.ref)}" is in the loop "${shown(loop.ref)}" and answers a list; give it a key.`;
      problems.add('colliding_results', message, place);
    }
    const earlier = byKey.get(key);
    if (earlier === undefined) byKey.set(key, one);
    else if (key !== '' && earlier.loops.at(-1) !== loop) {
      const message = `The results "${shown(earlier.node.ref)}" and "${shown(node.ref)}" have the key "${shown(key)}", but are not in the same loop; give one of them another key.`;
      problems.add('colliding_results', message, place);
    }
  }
};
