/** A caller's expectation of an asset before a change. */
export interface Expectation {
  /** ISO 8601: the `updatedAt` that the caller has seen. */
  readonly updatedAt?: string | undefined;
  /** The header `if-match`: entity tags, or `*` for any state. */
  readonly ifMatch?: string | undefined;
}

/** Identifies a state of a draft: it changes with every change. */
export const assetEtag = ({ updatedAt }: { readonly updatedAt: string }): string => `"${updatedAt}"`;

/** Whether a caller expects the asset to exist. */
export const expectsAsset = ({ updatedAt, ifMatch }: Expectation): boolean =>
  updatedAt !== undefined || ifMatch !== undefined;

/** Whether an asset is as the caller expects it. A tag that a proxy has made weak counts as strong. */
export const isAsExpected = (asset: { readonly updatedAt: string }, { updatedAt, ifMatch }: Expectation): boolean => {
  if (updatedAt !== undefined && Date.parse(updatedAt) !== Date.parse(asset.updatedAt)) return false;
  if (ifMatch === undefined || ifMatch.trim() === '*') return true;
  return ifMatch
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .includes(assetEtag(asset));
};
