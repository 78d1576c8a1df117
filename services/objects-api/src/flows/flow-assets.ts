import { type FlowGraph, type FlowNode, type FlowUse, ServiceError } from '@decision/contracts';
import { type FlowAsset, type FlowAssets, nameOfAsset, usesOf } from '@decision/flows';
import {
  asWorkspace,
  findVisibleAssets,
  loadSubflows,
  type ResolvedAsset,
  resolveAssets,
  type StoredSubflow,
  type Transaction,
} from '@decision/persistence';

/** Maximum number of flows within one flow, however they are nested; each version counts once. */
const MAX_SUBFLOWS = 1_000;

/** The rules and flows that a flow names, as its checks see them. */
export interface NamedAssets extends FlowAssets {
  /** The assets found, as a published version stores them. */
  readonly uses: readonly FlowUse[];
  /** The rule of a slug and selector, with its fields. */
  rule(slug: string, selector: string): ResolvedAsset | undefined;
}

/**
 * Finds the rules and flows that a flow names, as far as the access sees them, and those that the same nodes of the stored flow already name
 * (V3). Throws `flow_invalid` if it contains more than {@link MAX_SUBFLOWS} flows.
 */
export const findNamedAssets = async (
  transaction: Transaction,
  graph: FlowGraph,
  stored?: FlowGraph,
): Promise<NamedAssets> => {
  const resolved = await resolveNames(transaction, graph, stored);
  const byName = new Map(resolved.map((asset) => [nameOfAsset(asset), asset]));
  const roots = resolved.filter(({ kind }) => kind === 'flow').map(({ versionId }) => versionId);
  const subflows = await loadSubflows(transaction, roots, MAX_SUBFLOWS);
  if (subflows.size > MAX_SUBFLOWS) throw tooManySubflows();
  const ids = [...resolved.map(({ assetId }) => assetId), ...[...subflows.values()].map(({ flow_id: id }) => id)];
  const visible = await findVisibleAssets(transaction, ids);
  const flows = new SubflowAssets(subflows, visible);
  return {
    uses: resolved.map(({ kind, slug, selector, assetId, versionId }) => ({
      ...{ kind, slug, selector, asset_id: assetId, version_id: versionId },
    })),
    rule: (slug, selector) => byName.get(nameOfAsset({ kind: 'rule', slug, selector })),
    findRule: (slug, selector) => {
      const rule = byName.get(nameOfAsset({ kind: 'rule', slug, selector }));
      if (rule === undefined) return undefined;
      return {
        ...{ id: rule.assetId, slug, version: rule.version, isHidden: !visible.has(rule.assetId) },
        inputs: rule.requestSchema,
        outputs: rule.responseSchema,
      };
    },
    findFlow: (slug, version) => {
      const flow = byName.get(nameOfAsset({ kind: 'flow', slug, selector: String(version) }));
      return flow && flows.get(flow.versionId, slug);
    },
  };
};

const resolveNames = async (
  transaction: Transaction,
  graph: FlowGraph,
  stored: FlowGraph | undefined,
): Promise<readonly ResolvedAsset[]> => {
  const wanted = usesOf(graph);
  const visible = await resolveAssets(transaction, wanted);
  if (stored === undefined) return visible;
  const found = new Set(visible.map(nameOfAsset));
  const newlyNamed = namesIn(changedNodes(graph, stored));
  const kept = wanted.filter((use) => !found.has(nameOfAsset(use)) && !newlyNamed.has(nameOfAsset(use)));
  return [...visible, ...(await asWorkspace(transaction, () => resolveAssets(transaction, kept)))];
};

/** The nodes that name other assets than the stored node of the same ref. */
const changedNodes = (graph: FlowGraph, stored: FlowGraph): readonly FlowNode[] => {
  const before = new Set(stored.nodes.map(placeOf));
  return graph.nodes.filter((node) => !before.has(placeOf(node)));
};

const namesIn = (nodes: readonly FlowNode[]): ReadonlySet<string> => new Set(usesOf({ nodes }).map(nameOfAsset));

const placeOf = (node: FlowNode): string => JSON.stringify([node.ref, ...namesIn([node])]);

const tooManySubflows = (): ServiceError => {
  const message = `More than ${MAX_SUBFLOWS} flows lie within the flow; run fewer of them.`;
  return new ServiceError('flow_invalid', message, {
    problems: [{ code: 'too_large', message, path: '/nodes' }],
  });
};

/** Replaces the slug of a flow that the access does not see; no slug has spaces. */
const HIDDEN = 'a flow that you do not see';

/** Versions of flows as other flows see them, each built once. */
class SubflowAssets {
  private readonly made = new Map<string, FlowAsset>();

  constructor(
    private readonly stored: ReadonlyMap<string, StoredSubflow>,
    private readonly visible: ReadonlySet<string>,
  ) {}

  /** Published versions form no cycle, since each was checked against the versions before it. */
  get(versionId: string, slug: string): FlowAsset | undefined {
    const known = this.made.get(versionId);
    if (known !== undefined) return known;
    const stored = this.stored.get(versionId);
    if (stored === undefined) return undefined;
    const subflows = stored.uses
      .filter(({ kind }) => kind === 'flow')
      .flatMap((use) => this.get(use.version_id, use.slug) ?? []);
    const asset = {
      ...{ id: stored.flow_id, version: stored.version },
      slug: this.visible.has(stored.flow_id) ? slug : HIDDEN,
      isHidden: !this.visible.has(stored.flow_id),
      inputs: stored.requestSchema,
      outputs: stored.responseSchema,
      depth: 1 + Math.max(0, ...subflows.map(({ depth }) => depth)),
      reachesOut: stored.reaches_out,
      subflows,
    };
    this.made.set(versionId, asset);
    return asset;
  }
}
