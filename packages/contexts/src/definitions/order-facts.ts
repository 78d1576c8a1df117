/** Dependencies of each node, by name. */
type Dependencies = ReadonlyMap<string, readonly string[]>;

type Ordering =
  | { readonly ok: true; readonly order: readonly string[] }
  /** A circle, its first node again at its end. */
  | { readonly ok: false; readonly cycle: readonly string[] };

interface Visit {
  readonly node: string;
  /** Dependencies not looked at yet. */
  readonly open: string[];
}

/**
 * Orders nodes so that each follows what it depends on; ties keep the order of the map. Dependencies that are no nodes are passed over. Walks
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
