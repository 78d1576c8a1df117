/**
 * Cache keys of shared facts. Every service that reads or invalidates a fact uses these, so that an invalidation names exactly the key of a
 * reader. The cache client adds the prefix of a deployment.
 */
export const cacheKeys = {
  /** The identity behind an API key, by the public selector inside the key. */
  apiKey: (selector: string): string => `key:${selector}`,
  /** A session of a person. The key occurs only in messages: sessions are cached within a process and in no shared cache. */
  session: (sessionId: string): string => `session:${sessionId}`,
  /** All sessions of a person; as `session`. */
  user: (userId: string): string => `user:${userId}`,
  /** Current target of a slug: the rule, its groups, its published version. One entry per slug, so that one key invalidates all. */
  rulePointer: (workspaceId: string, slug: string): string => `rule:${workspaceId}:${slug}`,
  /** As `rulePointer`, for a flow: a rule and a flow may have the same slug. */
  flowPointer: (workspaceId: string, slug: string): string => `flow:${workspaceId}:${slug}`,
  /**
   * The id of a numbered version of a rule or flow. Versions are immutable; the entry is invalidated when the asset is deleted, since another
   * asset may get its id.
   */
  numberedVersion: (assetId: string, number: number): string => `version:${assetId}:${number}`,
  /** The immutable definition of a published version of a rule or flow; invalidated when its asset is deleted. */
  definition: (workspaceId: string, versionId: string): string => `definition:${workspaceId}:${versionId}`,
  /** Outputs of a node of a flow with caching enabled, by a digest of the node and its inputs; the entry only expires. */
  nodeResult: (workspaceId: string, digest: string): string => `node:${workspaceId}:${digest}`,
  /** Counts the changes of the values of a workspace. One entry for all values, so that a change of many makes one entry stale. */
  valueRevision: (workspaceId: string): string => `values:${workspaceId}`,
} as const;
