/**
 * Names under which shared facts are cached. Every service that reads or invalidates one uses these, so that an invalidation
 * names exactly what a reader stored. A deployment's own prefix is put in front by the cache client.
 */
export const cacheKeys = {
  /** The identity behind an API key, by the public selector inside the key. */
  apiKey: (selector: string): string => `key:${selector}`,
  /** Current target of a slug: the rule, its groups, its published version. One entry a slug, so that one key invalidates all. */
  rulePointer: (workspaceId: string, slug: string): string => `rule:${workspaceId}:${slug}`,
  /** The id of a numbered version. Versions are immutable; the entry is invalidated when the rule is deleted, since another may take its id. */
  numberedVersion: (ruleId: string, number: number): string => `version:${ruleId}:${number}`,
  /** The immutable table of a published version; invalidated when its rule is deleted. */
  definition: (workspaceId: string, versionId: string): string => `definition:${workspaceId}:${versionId}`,
  /** Counts the changes of the values of a workspace. One entry for all, so that a change of many values makes one entry stale. */
  valueRevision: (workspaceId: string): string => `values:${workspaceId}`,
} as const;
