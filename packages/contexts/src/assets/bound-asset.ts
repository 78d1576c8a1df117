import { type AssetKind } from '@decision/contracts';
import { type ContextDefinition } from '../definitions/context-model';
import { readSchema } from '../definitions/read-schema';
import { type RelatedInstances } from '../derived/derive-facts';
import { type Facts, quoted, valueOf } from '../facts/facts';

/** A field that an asset reads: a fact, a member of one (`order.total`), or a relationship (`$relations.orders`). */
export interface AssetInput {
  readonly key: string;
  /** Whether the asset itself has a default for it. */
  readonly hasDefault: boolean;
}

/** A rule or flow that is bound to a context, in the version that is effective now. */
export interface BoundAsset {
  readonly type: AssetKind;
  /** Only for logs; undefined if unknown. */
  readonly id?: string | undefined;
  readonly slug: string;
  /**
   * Identifies what runs: another version of the same asset has another one, and so does a flow whose latest-version rule changes (C56).
   */
  readonly effectiveVersion: string;
  readonly inputs: readonly AssetInput[];
  /** Keys of its possible outputs; `offer.rate` writes the fact `offer` (C58). */
  readonly outputs: readonly string[];
  /** Of flows alone. */
  readonly flow?: BoundFlow | undefined;
}

/** The current content of a flow. */
interface BoundFlow {
  /** Its version. */
  readonly versionId: string;
  /** Rule versions that the flow does not pin, by `<slug>/<selector>`. Pinned ones are those of when it was published. */
  readonly follows: Readonly<Record<string, string>>;
  /** Whether one of its nodes reaches out; if so, other assets need not wait for it. */
  readonly reachesOut: boolean;
}

/** The name of an asset within its context, such as `rule:discount`. */
export const assetKey = ({ type, slug }: Pick<BoundAsset, 'type' | 'slug'>): string => `${type}:${slug}`;

/** An asset with its {@link assetKey}. */
interface KeyedAsset {
  readonly asset: BoundAsset;
  readonly key: string;
}

/** Computed once per list: a batch asks for thousands of instances. */
const ordered = new WeakMap<readonly BoundAsset[], readonly KeyedAsset[]>();

/** The assets in the order in which the outputs of one round are written (C64). */
export const inWritingOrder = (assets: readonly BoundAsset[]): readonly KeyedAsset[] => {
  const known = ordered.get(assets);
  if (known !== undefined) return known;
  const found = assets.map((asset) => ({ asset, key: assetKey(asset) })).sort((a, b) => (a.key < b.key ? -1 : 1));
  ordered.set(assets, found);
  return found;
};

const RELATIONS = '$relations.';

/** The relationship that an input names; undefined if it names a fact. */
export const relationOfInput = ({ key }: AssetInput): string | undefined =>
  key.startsWith(RELATIONS) ? firstPart(key.slice(RELATIONS.length)) : undefined;

/** The fact that an input or output key refers to: the part before the first dot. */
export const firstPart = (key: string): string => {
  const dot = key.indexOf('.');
  return dot < 0 ? key : key.slice(0, dot);
};

interface AssetReads {
  readonly facts: readonly string[];
  readonly relations: readonly string[];
}

/** Computed once per asset: a batch asks for thousands of instances. */
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

/** Inputs of an asset from an instance (C62): the facts that it reads and that have a value, and relationships. */
export const inputsOf = (asset: BoundAsset, state: Facts, related: RelatedInstances): Facts => {
  const inputs: Record<string, unknown> = {};
  for (const fact of factsRead(asset)) {
    const value = valueOf(state, fact);
    if (value !== null) inputs[fact] = value; // no fact is named `__proto__`
  }
  const relations = relationsRead(asset).filter((name) => Object.hasOwn(related, name));
  if (relations.length > 0) inputs['$relations'] = Object.fromEntries(relations.map((name) => [name, related[name]]));
  return inputs;
};

interface Names {
  has(name: string): boolean;
}

/** Facts that decide about a binding: a compiled context has all of them, and {@link bindingGroundOf} derives them from less. */
interface BindingGround {
  readonly definition: Pick<ContextDefinition, 'onSchemaMismatch'>;
  readonly identity: { readonly key: string };
  readonly facts: Names;
  readonly derived: Names;
  readonly relations: Names;
}

/** The ground of a stored context, made only of its definition and the names of its relationships. */
export const bindingGroundOf = (
  definition: Pick<ContextDefinition, 'schema' | 'identityFact' | 'onSchemaMismatch'>,
  relations: readonly string[],
): BindingGround => {
  const { facts, derived } = readSchema(definition.schema, definition.identityFact);
  return { definition, identity: { key: definition.identityFact }, facts, derived, relations: new Set(relations) };
};

/** Why an asset cannot be bound. */
interface BindingFault {
  /** The key of the output at fault; undefined if the inputs as a whole are. */
  readonly output: string | undefined;
  /** A sentence. */
  readonly message: string;
}

/** Why an asset cannot be bound to a context (C57); empty if it can. */
export const faultsOfBinding = (ground: BindingGround, asset: BoundAsset): readonly BindingFault[] => {
  const faults = factsWritten(asset).flatMap((fact): BindingFault[] => {
    const message = faultOfOutput(ground, fact);
    const output = asset.outputs.find((key) => firstPart(key) === fact);
    return message === undefined ? [] : [{ output, message }];
  });
  if (readsSomething(ground, asset)) return faults;
  return [...faults, { output: undefined, message: 'None of its inputs is a fact or a relationship of the context.' }];
};

const faultOfOutput = ({ definition, identity, facts, derived }: BindingGround, fact: string): string | undefined => {
  if (fact === identity.key)
    return `It answers ${quoted(fact)}, the identity fact, which bound rules and flows cannot write.`;
  if (derived.has(fact)) return `It answers ${quoted(fact)}, which is derived.`;
  if (!facts.has(fact) && definition.onSchemaMismatch === 'reject')
    return `It answers ${quoted(fact)}, which is not a fact of the context; its on_schema_mismatch is reject.`;
  return undefined;
};

const readsSomething = ({ definition, facts, derived, relations }: BindingGround, asset: BoundAsset): boolean => {
  const isFact = (fact: string): boolean =>
    facts.has(fact) || derived.has(fact) || definition.onSchemaMismatch === 'store';
  return factsRead(asset).some(isFact) || relationsRead(asset).some((name) => relations.has(name));
};
