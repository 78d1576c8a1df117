import { isDeepStrictEqual } from 'node:util';
import { type FlowConnection, type FlowDiff, type FlowGraph, type FlowNode } from '@decision/contracts';
import { type AssetRecord, type Transaction, type WorkspaceAccess } from '@decision/persistence';
import { diffRecords, isCut, movedPairs, show } from '../rules/diff-tables';
import { type ImportContext } from '../rules/import-rule';
import { findVersion, otherParts, requireAsset } from '../rules/versions';

/** Differences between two states of a flow. Throws `flow_not_found`, `flow_not_published`, `version_not_found` or `environment_not_found`. */
export const diffFlow = (
  { database }: Pick<ImportContext, 'database'>,
  access: WorkspaceAccess,
  slug: string,
  { from = 'latest', to = 'draft' }: { readonly from?: string | undefined; readonly to?: string | undefined },
): Promise<FlowDiff> =>
  database.inWorkspace(access, async (transaction) => {
    const flow = await requireAsset(transaction, 'flow', slug);
    const before = await readState(transaction, flow, from);
    const after = await readState(transaction, flow, to);
    const nodes = diffNodes(before.graph.nodes, after.graph.nodes);
    const connections = diffConnections(before.graph.connections, after.graph.connections);
    const other = diffRecords(before.other, after.other).map(({ path, ...change }) => ({ field: path, ...change }));
    const counts = [...Object.values(nodes.counts), ...Object.values(connections.counts)];
    const equal = other.length === 0 && !connections.reordered && counts.every((count) => count === 0);
    const truncated = isCut(nodes.counts) || isCut(connections.counts);
    return { flow: slug, from: before.name, to: after.name, nodes, connections, other, equal, truncated };
  });

/** A state of a flow: the parts that decide its answers, and everything else by name. */
interface FlowState {
  readonly name: string;
  readonly graph: Required<FlowGraph>;
  readonly other: Readonly<Record<string, unknown>>;
}

const readState = async (transaction: Transaction, flow: AssetRecord<'flow'>, selector: string): Promise<FlowState> => {
  if (selector === 'draft') return { name: 'draft', graph: flow.graph, other: otherParts('flow', flow) };
  const { version, definition, details } = await findVersion(transaction, 'flow', flow, selector);
  const { nodes, connections, settings } = definition;
  return { name: String(version), graph: { nodes, connections }, other: otherParts('flow', { ...details, settings }) };
};

const diffNodes = (from: readonly FlowNode[], to: readonly FlowNode[]): FlowDiff['nodes'] => {
  const places = new Map(to.map(({ ref }, index) => [ref, index]));
  const known = new Set(from.map(({ ref }) => ref));
  const pairs = from.flatMap(({ ref }, index) => {
    const place = places.get(ref);
    return place === undefined ? [] : [{ from: index, to: place }];
  });
  const changed = pairs.flatMap((pair) => {
    const [before, after] = [from[pair.from], to[pair.to]];
    if (before === undefined || after === undefined) return [];
    const changes = diffRecords(before, after).map(({ path, ...change }) => ({ field: path, ...change }));
    return changes.length === 0 ? [] : [{ ref: before.ref, changes }];
  });
  const moved = movedPairs(pairs).flatMap((pair) => from[pair.from]?.ref ?? []);
  const added = to.filter(({ ref }) => !known.has(ref));
  const removed = from.filter(({ ref }) => !places.has(ref));
  const counts = { added: added.length, removed: removed.length, changed: changed.length, moved: moved.length };
  return { added: show(added), removed: show(removed), changed: show(changed), moved: show(moved), counts };
};

const diffConnections = (from: readonly FlowConnection[], to: readonly FlowConnection[]): FlowDiff['connections'] => {
  const removed = without(from, to);
  const added = without(to, from);
  const kept = without(from, removed).map(nameOf);
  const reordered = !isDeepStrictEqual(kept, without(to, added).map(nameOf));
  const counts = { added: added.length, removed: removed.length };
  return { added: show(added), removed: show(removed), counts, reordered };
};

/** The connections of a list that are missing in another one; each of the other cancels one. */
const without = (list: readonly FlowConnection[], others: readonly FlowConnection[]): readonly FlowConnection[] => {
  const left = new Map<string, number>();
  for (const other of others) left.set(nameOf(other), (left.get(nameOf(other)) ?? 0) + 1);
  return list.filter((connection) => {
    const name = nameOf(connection);
    const count = left.get(name) ?? 0;
    if (count > 0) left.set(name, count - 1);
    return count === 0;
  });
};

const nameOf = (connection: FlowConnection): string =>
  JSON.stringify(Object.entries(connection).sort(([a], [b]) => (a < b ? -1 : 1)));
