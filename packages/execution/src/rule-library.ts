import { type Cache, createReadThrough } from '@decision/cache';
import { cacheKeys, checkRuleTable, type RuleTable, ServiceError } from '@decision/contracts';
import { collectReferences, type CompiledRule, compileRule, retainedBytesOf } from '@decision/engine';
import {
  type Database,
  findValueRevision,
  loadValues,
  loadVersion,
  measureVersion,
  type WorkspaceAccess,
} from '@decision/persistence';
import { LRUCache } from 'lru-cache';
import { type OnCompiled, timedCompile } from './compilation';
import { KeptByBytes } from './kept-by-bytes';
import { createValueDirectory, type ValueDirectory, type ValueDirectoryOptions } from './value-directory';

/** Loads the immutable table of a published version from the database; undefined if it was deleted. */
export type LoadTable = (workspaceId: string, versionId: string) => Promise<RuleTable | undefined>;

/**
 * Compiled rules by workspace and version id: a version of another workspace is not found. A version never changes: it is evicted, or
 * dropped when the deletion of its rule is announced. The values to which a version refers do change: the compiled rule takes them over
 * without another compilation.
 */
export interface RuleLibrary {
  /**
   * Throws `version_not_found` if the workspace has no such version, for instance because it was deleted during the request. Undefined if
   * the rule has more cells than the library compiles: it must run in a thread.
   */
  get(workspaceId: string, versionId: string): Promise<CompiledRule | undefined>;
  /** The rule that {@link get} would answer, if it is compiled and its values are known to be current; otherwise undefined. */
  peek(workspaceId: string, versionId: string): CompiledRule | undefined;
  /** The same rule for a caller that keeps it: its values are those of its last refresh. */
  open(workspaceId: string, versionId: string): Promise<HeldRule | undefined>;
  size(): number;
  /** Estimated bytes of all held compiled rules. */
  bytes(): number;
}

interface RuleLibraryOptions {
  /**
   * Maximum estimated bytes of all compiled rules together; beyond it the least recently used are evicted. The most recent rule that alone
   * exceeds it is kept in addition, so that repeated requests do not recompile it.
   */
  readonly maxBytes: number;
  /** Maximum cells of a compiled rule; larger ones are answered with undefined. Default: all are compiled. */
  readonly maxCells?: number | undefined;
  readonly onCompiled?: OnCompiled | undefined;
}

/** Cells that compile in about twenty milliseconds once the code of compiling is warm, the most that the thread that handles messages may do at a time. */
export const BRIEFLY_COMPILED_CELLS = 10_000;
/** Compressed bytes of a stored table that certainly has more cells: reading it alone would take longer. */
const BRIEFLY_READ_BYTES = 250_000;
/** Maximum versions that are remembered as too large. */
const MOST_LARGE_VERSIONS = 10_000;

/** Bytes of a cache entry, and of the values to which a rule refers without their contents. */
const ENTRY_BYTES = 1_000;
const VALUE_BYTES = 500;

/** Sources of the parts of rules. */
interface RuleSources {
  readonly loadTable: LoadTable;
  /** Approximate stored bytes of a table; used if large rules are not compiled, which need not be read either. */
  readonly measureTable?: (workspaceId: string, versionId: string) => Promise<number | undefined>;
  readonly values: ValueDirectory;
}

/** A compiled rule, with what a flow that embeds it needs. */
export interface HeldRule {
  readonly rule: CompiledRule;
  readonly inputs: readonly HeldField[];
  readonly outputs: readonly HeldField[];
  /** Estimated memory that it keeps alive. */
  readonly bytes: number;
  /** Takes over changed values of the workspace; undefined: it refers to none. Never rejects. */
  readonly refresh: (() => Promise<void>) | undefined;
  /** Whether {@link refresh} is known to change nothing. Undefined if `refresh` is. */
  readonly isFresh?: (() => boolean) | undefined;
}

type HeldField = Pick<RuleTable['requestSchema'][number], 'key' | 'type'>;

export const createRuleLibrary = (
  cache: Cache,
  { loadTable, measureTable, values }: RuleSources,
  options: RuleLibraryOptions,
): RuleLibrary => {
  const compiled = new KeptByBytes<HeldRule>(options.maxBytes);
  const compiling = new Map<string, Promise<HeldRule | undefined>>();
  const large = new LRUCache<string, true>({ max: MOST_LARGE_VERSIONS });
  const tables = createReadThrough<RuleTable>(cache, {
    name: 'definitions',
    // This process keeps the compiled form; the table is read once, so hardly any need to be cached.
    maxEntries: 1,
    localTtlMs: 1,
    sharedTtlMs: undefined,
    // A version never changes, so an old entry is as good as a new one.
    refreshAfterMs: Infinity,
    validate: checkRuleTable,
  });

  cache.invalidations.subscribe(({ kind, keys }) => {
    if (kind !== 'rule') return;
    for (const key of keys) {
      compiled.delete(key);
      large.delete(key);
    }
  });

  const load = async (workspaceId: string, versionId: string, key: string): Promise<HeldRule | undefined> => {
    if (options.maxCells !== undefined && ((await measureTable?.(workspaceId, versionId)) ?? 0) > BRIEFLY_READ_BYTES) {
      large.set(key, true);
      return undefined;
    }
    const table = await tables.read(key, () => loadTable(workspaceId, versionId));
    if (table === undefined)
      throw new ServiceError(
        'version_not_found',
        'The workspace has no such version of a rule; it may have been deleted while the request was on its way.',
      );
    if (options.maxCells !== undefined && countCells(table) > options.maxCells) {
      large.set(key, true);
      return undefined;
    }
    const { ids } = collectReferences(table);
    const ruleValues = ids.size === 0 ? undefined : await values.open(workspaceId, [...ids]);
    const rule = timedCompile('rule', options.onCompiled, () =>
      compileRule(table, ruleValues === undefined ? {} : { values: ruleValues.source }),
    );
    const bytes = ENTRY_BYTES + ids.size * VALUE_BYTES + retainedBytesOf(rule);
    const entry = {
      ...{ rule, bytes, refresh: ruleValues?.refresh, isFresh: ruleValues?.isFresh },
      inputs: table.requestSchema.map(fieldOf),
      outputs: table.responseSchema.map(fieldOf),
    };
    compiled.set(key, entry, bytes);
    return entry;
  };

  const open = async (workspaceId: string, versionId: string): Promise<HeldRule | undefined> => {
    const key = cacheKeys.definition(workspaceId, versionId);
    const known = compiled.get(key);
    if (known !== undefined) return known;
    if (large.has(key)) return undefined;
    const flight = compiling.get(key) ?? load(workspaceId, versionId, key).finally(() => compiling.delete(key));
    compiling.set(key, flight);
    return flight;
  };

  return {
    open,
    get: async (workspaceId, versionId) => {
      const known = await open(workspaceId, versionId);
      await known?.refresh?.();
      return known?.rule;
    },
    peek: (workspaceId, versionId) => {
      const known = compiled.get(cacheKeys.definition(workspaceId, versionId));
      return known === undefined || known.isFresh?.() === false ? undefined : known.rule;
    },
    size: () => compiled.size,
    bytes: () => compiled.bytes,
  };
};

const fieldOf = ({ key, type }: HeldField): HeldField => ({ key, type });

/** Conditions and outputs, including empty ones: each output has a cell in every row. */
const countCells = ({ conditions, responseSchema }: RuleTable): number =>
  conditions.reduce(
    (sum, { request = {} }) => sum + Object.keys(request).length,
    conditions.length * (1 + responseSchema.length),
  );

/** The rules that a database holds, with the values to which they refer. */
export const createStoredRules = (
  database: Database,
  cache: Cache,
  options: RuleLibraryOptions & ValueDirectoryOptions,
): RuleLibrary => {
  const values = createValueDirectory(
    cache,
    {
      findRevision: (workspaceId) => database.inWorkspace(everything(workspaceId), findValueRevision),
      load: (workspaceId, ids) =>
        database.inWorkspace(everything(workspaceId), (transaction) => loadValues(transaction, ids)),
    },
    options,
  );
  const loadTable = (workspaceId: string, versionId: string) =>
    database.inWorkspace(everything(workspaceId), (transaction) => loadVersion(transaction, versionId));
  const measureTable = (workspaceId: string, versionId: string) =>
    database.inWorkspace(everything(workspaceId), (transaction) => measureVersion(transaction, versionId));
  return createRuleLibrary(cache, { values, loadTable, measureTable }, options);
};

/** Permission to use a rule was checked before, so its tables and values are read regardless of groups. */
const everything = (workspaceId: string): WorkspaceAccess => ({ workspaceId, userGroups: undefined });
