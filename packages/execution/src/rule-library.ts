import { type Cache, createReadThrough } from '@decision/cache';
import { cacheKeys, checkRuleTable, type RuleTable, ServiceError } from '@decision/contracts';
import { collectReferences, type CompiledRule, compileRule } from '@decision/engine';
import { LRUCache } from 'lru-cache';
import { type RuleValues, type ValueDirectory } from './value-directory';

/** Loads the immutable table of a published version from the database; undefined where it was deleted. */
export type LoadTable = (workspaceId: string, versionId: string) => Promise<RuleTable | undefined>;

/**
 * Compiled rules by version id. A version never changes, so nothing here is ever invalidated, only evicted. The values to which a version
 * refers do change: the compiled rule takes them over without being compiled again.
 */
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

/** Where the parts of rules come from. */
export interface RuleSources {
  readonly loadTable: LoadTable;
  readonly values: ValueDirectory;
}

interface LibraryEntry {
  readonly rule: CompiledRule;
  /** Undefined: the rule refers to none. */
  readonly values: RuleValues | undefined;
}

export const createRuleLibrary = (
  cache: Cache,
  { loadTable, values }: RuleSources,
  options: RuleLibraryOptions,
): RuleLibrary => {
  const compiled = new LRUCache<string, LibraryEntry>({ maxSize: options.maxRows });
  const compiling = new Map<string, Promise<LibraryEntry>>();
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

  const load = async (workspaceId: string, versionId: string): Promise<LibraryEntry> => {
    const table = await tables.read(cacheKeys.definition(versionId), () => loadTable(workspaceId, versionId));
    if (table === undefined)
      throw new ServiceError('version_not_found', 'The rule was deleted while the request was on its way.');
    const { ids } = collectReferences(table);
    const ruleValues = ids.size === 0 ? undefined : await values.open(workspaceId, [...ids]);
    const entry = {
      rule: compileRule(table, ruleValues === undefined ? {} : { values: ruleValues.source }),
      values: ruleValues,
    };
    compiled.set(versionId, entry, { size: table.conditions.length + ids.size + BASE_WEIGHT });
    return entry;
  };

  return {
    get: async (workspaceId, versionId) => {
      const known = compiled.get(versionId);
      if (known) {
        await known.values?.refresh();
        return known.rule;
      }
      const flight =
        compiling.get(versionId) ?? load(workspaceId, versionId).finally(() => compiling.delete(versionId));
      compiling.set(versionId, flight);
      return (await flight).rule;
    },
    size: () => compiled.size,
  };
};
