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

/** Loads the immutable table of a published version from the database; undefined where it was deleted. */
export type LoadTable = (workspaceId: string, versionId: string) => Promise<RuleTable | undefined>;

/**
 * Compiled rules by workspace and version id: a version of another workspace is not found. A version never changes: it is evicted, or dropped when it
 * is announced that its rule was deleted. The values to which a version refers do change: the compiled rule takes them over without being compiled
 * again.
 */
export interface RuleLibrary {
  /**
   * Throws `version_not_found` where the workspace has no such version, for instance because it was deleted while its request was on the way.
   * Undefined where the rule has more cells than the library compiles: it belongs into a thread.
   */
  get(workspaceId: string, versionId: string): Promise<CompiledRule | undefined>;
  /** The rule that {@link get} would answer, where it is compiled and its values are known to be up to date; undefined: it must be asked for. */
  peek(workspaceId: string, versionId: string): CompiledRule | undefined;
  /** The same rule for one who keeps it: its values are those of when it was last refreshed. */
  open(workspaceId: string, versionId: string): Promise<HeldRule | undefined>;
  size(): number;
  /** Bytes of all compiled rules that are held, as they estimate themselves. */
  bytes(): number;
}

interface RuleLibraryOptions {
  /**
   * Bytes of all compiled rules together, by the estimate that each makes of itself; the least recently used are evicted beyond it. One rule that
   * alone is larger is held beside them, the last that was asked for: so every legal rule is compiled once as long as it is asked about.
   */
  readonly maxBytes: number;
  /** Cells of the largest rule that is compiled; those that are larger are answered with undefined. Default: all are compiled. */
  readonly maxCells?: number | undefined;
  readonly onCompiled?: OnCompiled | undefined;
}

/** Cells that are compiled in about twenty milliseconds: what the thread that handles messages may do in a row. */
export const BRIEFLY_COMPILED_CELLS = 5_000;
/** Bytes of a stored table, compressed, that certainly has more cells: reading it alone would take longer. */
const BRIEFLY_READ_BYTES = 250_000;
/** Versions that are remembered as too large. */
const MOST_LARGE_VERSIONS = 10_000;

/** Bytes of a cache entry, and of the values to which a rule refers without their contents. */
const ENTRY_BYTES = 1_000;
const VALUE_BYTES = 500;

/** Sources of the parts of rules. */
interface RuleSources {
  readonly loadTable: LoadTable;
  /** About how many bytes a table takes where it is stored; asked where large rules are not compiled, which need not be read either. */
  readonly measureTable?: (workspaceId: string, versionId: string) => Promise<number | undefined>;
  readonly values: ValueDirectory;
}

/** A compiled rule, and what those who evaluate it within something else know of it. */
export interface HeldRule {
  readonly rule: CompiledRule;
  readonly inputs: readonly HeldField[];
  readonly outputs: readonly HeldField[];
  /** Memory that it keeps alive, as it estimates it. */
  readonly bytes: number;
  /** Takes over values of the workspace that have changed; undefined: it refers to none. Never rejects. */
  readonly refresh: (() => Promise<void>) | undefined;
  /** Whether {@link refresh} is known to change nothing. Undefined where that is. */
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
    // The compiled form is what is kept in this process; the table is read once, so hardly any need to be held.
    maxEntries: 1,
    localTtlMs: 1,
    sharedTtlMs: undefined,
    // A version never changes: an old entry is as good as a new one.
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

/** Conditions and outputs, those that are left out too: each output has a place in every row. */
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

/** Permission to ask for a rule was checked before: its tables and values are read without regard to groups. */
const everything = (workspaceId: string): WorkspaceAccess => ({ workspaceId, userGroups: undefined });
