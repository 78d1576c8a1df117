import { type BoundAsset, relationsRead } from '../assets/bound-asset';
import { type ContextModel, type ContextWorld, holderOf, type Relationship } from '../definitions/context-model';
import { type Facts, valueOf } from '../facts/facts';
import { linkedInstance } from '../facts/instance-id';

/** The foreign keys of a context, in the order of their relationships. */
export const foreignKeysOf = (contextId: string, { relationships }: ContextWorld): readonly string[] => [
  ...new Set(
    relationships
      .filter((relationship) => holderOf(relationship) === contextId)
      .map(({ foreignKeyFact }) => foreignKeyFact),
  ),
];

/** The instance that each foreign key of an instance links to (C110); keys that link to none are left out. */
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

/** How to find the instances that read a changed one through a relationship. */
type ReaderSide =
  /** The instances that the changed instance's foreign key links to, now or before. */
  | { readonly by: 'target'; readonly foreignKeyFact: string }
  /** The instances whose own foreign key links to the changed instance. */
  | { readonly by: 'holder'; readonly foreignKeyFact: string };

/** How the readers on the near side of a relationship are found when an instance on its far side changes (C111). */
export const readersThrough = ({ type, foreignKeyFact }: Relationship): ReaderSide => ({
  by: type === 'belongs_to' ? 'holder' : 'target',
  foreignKeyFact,
});
