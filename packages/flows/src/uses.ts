import { type AssetKind, type FlowGraph } from '@decision/contracts';
import { readFlow } from './read-flow';

/** A rule or flow as the nodes of a flow name it. */
interface NamedAsset {
  readonly kind: AssetKind;
  readonly slug: string;
  /** `latest`, a number or the slug of an environment. */
  readonly selector: string;
}

/** A unique text for the reference: slugs contain no slash. */
export const nameOfAsset = ({ kind, slug, selector }: NamedAsset): string => `${kind}/${slug}/${selector}`;

/** The distinct rules and flows that the nodes of a flow name, in document order. Empty for a document that exceeds the limits. */
export const usesOf = (graph: FlowGraph): readonly NamedAsset[] => {
  const named = new Map<string, NamedAsset>();
  const note = (asset: NamedAsset): undefined => void named.set(nameOfAsset(asset), asset);
  readFlow(graph, {
    findRule: (slug, selector) => note({ kind: 'rule', slug, selector }),
    findFlow: (slug, version) => note({ kind: 'flow', slug, selector: String(version) }),
  });
  return [...named.values()];
};
