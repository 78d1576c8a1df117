import { type AssetType } from '@decision/contracts';
import { type RelatedInstances } from '../derived/derive-facts';
import { type Facts, hasValue, valueOf } from '../facts/facts';

/** A field that an asset reads: a fact, a member of one (`order.total`), or a relationship (`$relations.orders`). */
interface AssetInput {
  readonly key: string;
  /** Whether the asset has a default of its own for it. */
  readonly hasDefault: boolean;
}

/** A rule or flow that is bound to a context, in the version that is effective now. */
export interface BoundAsset {
  readonly type: AssetType;
  readonly slug: string;
  /** Names what runs: another version of the same asset has another one. */
  readonly effectiveVersion: string;
  readonly inputs: readonly AssetInput[];
  /** Keys that it may answer; `offer.rate` writes the fact `offer` (C58). */
  readonly outputs: readonly string[];
}

/** The name of an asset within its context, such as `rule:discount`. */
export const assetKey = ({ type, slug }: Pick<BoundAsset, 'type' | 'slug'>): string => `${type}:${slug}`;

/** The order in which outputs of one round are written (C64). */
export const compareAssets = (a: BoundAsset, b: BoundAsset): number => (assetKey(a) < assetKey(b) ? -1 : 1);

const RELATIONS = '$relations.';

/** The relationship that an input names; undefined where it names a fact. */
export const relationOfInput = ({ key }: AssetInput): string | undefined =>
  key.startsWith(RELATIONS) ? firstPart(key.slice(RELATIONS.length)) : undefined;

/** The fact that an input or output key means: what stands before the first dot. */
export const firstPart = (key: string): string => key.split('.', 1)[0] ?? key;

interface AssetReads {
  readonly facts: readonly string[];
  readonly relations: readonly string[];
}

/** Found once for each asset: a batch asks for thousands of instances. */
const reads = new WeakMap<BoundAsset, AssetReads>();

const readsOf = (asset: BoundAsset): AssetReads => {
  const known = reads.get(asset);
  if (known !== undefined) return known;
  const facts = asset.inputs.filter((input) => relationOfInput(input) === undefined).map(({ key }) => firstPart(key));
  const relations = asset.inputs.flatMap((input) => relationOfInput(input) ?? []);
  const found = { facts: unique(facts), relations: unique(relations) };
  reads.set(asset, found);
  return found;
};

/** Names of the facts that an asset reads (C52). */
export const factsRead = (asset: BoundAsset): readonly string[] => readsOf(asset).facts;

/** Names of the relationships that an asset reads (C52). */
export const relationsRead = (asset: BoundAsset): readonly string[] => readsOf(asset).relations;

/** Names of the facts that an asset may write. */
export const factsWritten = ({ outputs }: BoundAsset): readonly string[] => unique(outputs.map(firstPart));

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)];

/** Inputs of an asset from an instance (C62): the facts that it reads, as far as they have a value, and relationships. */
export const inputsOf = (asset: BoundAsset, state: Facts, related: RelatedInstances): Facts => {
  const facts = factsRead(asset)
    .filter((fact) => hasValue(state, fact))
    .map((fact) => [fact, valueOf(state, fact)]);
  const relations = relationsRead(asset)
    .filter((name) => Object.hasOwn(related, name))
    .map((name) => [name, related[name]]);
  const inputs = Object.fromEntries(facts) as Facts; // pairs of a name and a value
  return relations.length === 0 ? inputs : { ...inputs, $relations: Object.fromEntries(relations) };
};
