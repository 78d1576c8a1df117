import { type BoundAsset, relationsRead } from '../assets/bound-asset';
import { type ContextModel, type ContextWorld, holderOf, type Relationship } from '../definitions/context-model';
import { type Facts, valueOf } from '../facts/facts';
import { linkedInstance } from '../facts/instance-id';

/** The facts of a context that name instances of others, in the order of their relationships. */
export const foreignKeysOf = (contextId: string, { relationships }: ContextWorld): readonly string[] => [
  ...new Set(
    relationships
      .filter((relationship) => holderOf(relationship) === contextId)
      .map(({ foreignKeyFact }) => foreignKeyFact),
  ),
];

/** Which instance each foreign key of an instance names (C110); those that name none are left out. */
export const linksOf = (foreignKeys: readonly string[], facts: Facts): ReadonlyMap<string, string> => {
  const links = new Map<string, string>();
  for (const fact of foreignKeys) {
    const target = linkedInstance(valueOf(facts, fact));
    if (target !== undefined) links.set(fact, target);
  }
  return links;
};

/** Names of the relationships of a context that its formulas or bound assets read (C111). */
export const relationsInUse = (model: ContextModel, assets: readonly BoundAsset[]): ReadonlySet<string> =>
  new Set([
    ...[...model.derived.values()].flatMap(({ reads }) => [...reads.relations]),
    ...assets.flatMap((asset) => [...relationsRead(asset)]),
  ]);

/** Location of the instances that read a changed one through a relationship. */
type ReaderSide =
  /** Those that the changed instance's foreign key names, now or before. */
  | { readonly by: 'target'; readonly foreignKeyFact: string }
  /** Those whose own foreign key names the changed instance. */
  | { readonly by: 'holder'; readonly foreignKeyFact: string };

/** How the readers on the near side of a relationship are found when an instance on its far side changes (C111). */
export const readersThrough = ({ type, foreignKeyFact }: Relationship): ReaderSide => ({
  by: type === 'belongs_to' ? 'holder' : 'target',
  foreignKeyFact,
});
