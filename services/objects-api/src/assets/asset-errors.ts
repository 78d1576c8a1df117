import { type AssetKind, type ReleaseRecord, ServiceError } from '@decision/contracts';

/** `name` is how the caller named the asset: by id or by slug. */
export const assetNotFound = (
  kind: AssetKind,
  name: { readonly id: string } | { readonly slug: string },
): ServiceError =>
  new ServiceError(
    `${kind}_not_found`,
    `No ${kind} with the ${'id' in name ? `id ${name.id}` : `slug "${name.slug}"`} is visible to this key.`,
    { ...name },
  );

interface StoredAsset {
  readonly id: string;
  readonly slug: string;
  readonly updatedAt: string;
}

/** Somebody changed the asset since the caller saw it. */
export const assetStale = (kind: AssetKind, { id, slug, updatedAt }: StoredAsset): ServiceError =>
  new ServiceError(
    `${kind}_stale`,
    `The ${kind} "${slug}" was changed at ${updatedAt}, after the state that you have seen; export it again and repeat your change.`,
    { id, updated_at: updatedAt },
  );

/** `context` is undefined if the caller does not see the context that the asset is bound to. */
export const assetBound = (kind: AssetKind, slug: string, context: string | undefined): ServiceError =>
  new ServiceError(
    `${kind}_bound`,
    `The ${kind} "${slug}" is published and bound to ${context === undefined ? 'a context that this key does not see' : `the context "${context}"`}; unpublish it, or import it with "context": null, first.`,
    context === undefined ? {} : { context },
  );

/** An asset that releases need can be neither deleted nor taken out of service. */
export const assetReleased = (kind: AssetKind, slug: string, releases: readonly ReleaseRecord[]): ServiceError => {
  const places = releases.map(({ environment, state }) => `${state} in "${environment.slug}"`).join(', ');
  return new ServiceError(
    `${kind}_released`,
    `The ${kind} "${slug}" is ${places}; cancel what is pending and withdraw what is live first.`,
    {
      releases: releases.map(({ id, environment, state, version }) => ({
        id,
        environment: environment.slug,
        state,
        version,
      })),
    },
  );
};

export const slugTaken = (kind: AssetKind, slug: string): ServiceError =>
  new ServiceError(
    'slug_taken',
    `Another ${kind} already has the slug "${slug}"; choose another one, or import with that ${kind}'s id to change it.`,
    { slug },
  );

/** The asset exists, but not for this key; the answer must look like any other failure to create under a taken name. */
export const idTaken = (kind: AssetKind, id: string): ServiceError =>
  new ServiceError('slug_taken', `A ${kind} cannot be created under the id ${id}; leave the id out to have one made.`, {
    id,
  });

export const deletedMeanwhile = (kind: AssetKind, id: string): ServiceError =>
  new ServiceError(`${kind}_not_found`, `The ${kind} ${id} was deleted while it was being changed.`);

export const assetNotPublished = (kind: AssetKind, slug: string): ServiceError =>
  new ServiceError(`${kind}_not_published`, `The ${kind} "${slug}" has no published version; publish it first.`, {
    slug,
  });

export const versionNotFound = (kind: AssetKind, slug: string, version: string): ServiceError =>
  new ServiceError('version_not_found', `The ${kind} "${slug}" has no version ${version}.`, { slug, version });
