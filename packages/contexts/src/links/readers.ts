import { type BoundAsset, relationsRead } from '../assets/bound-asset';
import { type Relationship } from '../definitions/context-definition';
import { type ContextModel } from '../definitions/context-model';

/** Names of the relationships of a context that its formulas or bound assets read (C111). */
export const relationsInUse = (model: ContextModel, assets: readonly BoundAsset[]): ReadonlySet<string> =>
  new Set([
    ...[...model.derived.values()].flatMap(({ reads }) => [...reads.relations]),
    ...assets.flatMap((asset) => [...relationsRead(asset)]),
  ]);

/** Location of the instances that read a changed one through a relationship. */
type ReaderPlace =
  /** Those that the changed instance's foreign key names, now or before. */
  | { readonly by: 'target'; readonly foreignKeyFact: string }
  /** Those whose own foreign key names the changed instance. */
  | { readonly by: 'holder'; readonly foreignKeyFact: string };

/** How the readers on the near side of a relationship are found when an instance on its far side changes (C111). */
export const readersThrough = ({ type, foreignKeyFact }: Relationship): ReaderPlace => ({
  by: type === 'belongs_to' ? 'holder' : 'target',
  foreignKeyFact,
});
