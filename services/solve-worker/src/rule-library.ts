import { type Cache, createReadThrough } from '@decision/cache';
import { cacheKeys, checkRuleTable, type RuleTable, ServiceError } from '@decision/contracts';
import { type CompiledRule, compileRule } from '@decision/engine';
import { LRUCache } from 'lru-cache';

/** Loads the immutable table of a published version from the database; undefined where it was deleted. */
export type LoadTable = (workspaceId: string, versionId: string) => Promise<RuleTable | undefined>;

/** Compiled rules by version id. A version never changes, so nothing here is ever invalidated, only evicted. */
export interface RuleLibrary {
  /** Throws `version_not_found` where the version was deleted while its request was on the way. */
  get(workspaceId: string, versionId: string): Promise<CompiledRule>;
  size(): number;
}

export interface RuleLibraryOptions {
  /** Rows of all compiled rules together; the least recently used are evicted beyond it. */
  readonly maxRows: number;
}

/** Cells that a rule without rows counts as, so that empty rules are bounded too. */
const BASE_WEIGHT = 10;

export const createRuleLibrary = (cache: Cache, loadTable: LoadTable, options: RuleLibraryOptions): RuleLibrary => {
  const compiled = new LRUCache<string, CompiledRule>({ maxSize: options.maxRows });
  const compiling = new Map<string, Promise<CompiledRule>>();
  const tables = createReadThrough<RuleTable>(cache, {
    name: 'definitions',
    // The compiled form is what is kept in this process; the table is read once, so hardly any need to be held.
    maxEntries: 1,
    localTtlMs: 1,
    sharedTtlMs: undefined,
    // A version never changes: an old entry is as good as a new one.
    refreshAfterMs: Infinity,
    validate: checkRuleTable,
  });

  const load = async (workspaceId: string, versionId: string): Promise<CompiledRule> => {
    const table = await tables.read(cacheKeys.definition(versionId), () => loadTable(workspaceId, versionId));
    if (table === undefined)
      throw new ServiceError('version_not_found', 'The rule was deleted while the request was on its way.');
    const rule = compileRule(table);
    compiled.set(versionId, rule, { size: table.conditions.length + BASE_WEIGHT });
    return rule;
  };

  return {
    get: async (workspaceId, versionId) => {
      const known = compiled.get(versionId);
      if (known) return known;
      const flight =
        compiling.get(versionId) ?? load(workspaceId, versionId).finally(() => compiling.delete(versionId));
      compiling.set(versionId, flight);
      return flight;
    },
    size: () => compiled.size,
  };
};
