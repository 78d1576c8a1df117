/**
 * Names under which shared facts are cached. Every service that reads or invalidates one uses these, so that an invalidation
 * always names what a reader stored. A deployment's own prefix is put in front by the cache client.
 */
export const cacheKeys = {
  /** The identity behind an API key, by the public selector inside the key. */
  apiKey: (selector: string): string => `key:${selector}`,
  /** Where a slug and selector point: the immutable version to solve. */
  versionPointer: (workspaceId: string, slug: string, selector: string): string =>
    `pointer:${workspaceId}:${slug}:${selector}`,
  /** Everything cached about the pointers of one slug; invalidated as a prefix. */
  versionPointers: (workspaceId: string, slug: string): string => `pointer:${workspaceId}:${slug}:`,
  /** The immutable table of a published version. */
  definition: (versionId: string): string => `definition:${versionId}`,
} as const;
