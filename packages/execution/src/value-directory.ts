import { type Cache, createReadThrough } from '@decision/cache';
import { cacheKeys, checkValueRevision, fixedLimits } from '@decision/contracts';
import { type StoredValue, type ValueSource } from '@decision/engine';
import { type LoadedValues } from '@decision/persistence';

/** Reads from the database regardless of groups: a published rule resolves every value to which it is bound. */
interface ValueStore {
  findRevision(workspaceId: string): Promise<number>;
  load(workspaceId: string, ids: readonly string[]): Promise<LoadedValues>;
}

/** Answers how often the values of a workspace have changed, and opens the values that one rule refers to. */
export interface ValueDirectory {
  open(workspaceId: string, ids: readonly string[]): Promise<RuleValues>;
}

/** The current values of one rule. */
interface RuleValues {
  readonly source: ValueSource;
  /**
   * Reloads them if the workspace's values may have changed since (docs/adr/0010-values-by-id-and-revision.md). Values that cannot be read
   * stay unchanged.
   */
  readonly refresh: () => Promise<void>;
  /** Whether this process knows without a request that {@link refresh} would change nothing. */
  readonly isFresh: () => boolean;
}

export interface ValueDirectoryOptions {
  /** Called if values could not be reloaded; the rule continues with its values. */
  readonly onStale: (error: unknown) => void;
}

const MAX_WORKSPACES = 10_000;

export const createValueDirectory = (
  cache: Cache,
  store: ValueStore,
  { onStale }: ValueDirectoryOptions,
): ValueDirectory => {
  const revisions = createReadThrough<number>(cache, {
    name: 'value-revisions',
    maxEntries: MAX_WORKSPACES,
    localTtlMs: fixedLimits.pointerLocalTtlMs,
    sharedTtlMs: undefined,
    validate: checkValueRevision,
  });
  return {
    open: async (workspaceId, ids) => {
      const key = cacheKeys.valueRevision(workspaceId);
      const readRevision = (): Promise<number | undefined> =>
        revisions.read(key, () => store.findRevision(workspaceId));
      const source = new LoadedSource(await store.load(workspaceId, ids));
      const reload = createSingleFlight(async () => source.replace(await store.load(workspaceId, ids)));
      return {
        source,
        refresh: async () => {
          try {
            // A cache may lag behind loaded values, which is no reason to reload them.
            if (((await readRevision()) ?? 0) > source.revision) await reload();
          } catch (error) {
            onStale(error);
          }
        },
        isFresh: () => (revisions.peek(key) ?? Infinity) <= source.revision,
      };
    },
  };
};

/** Values that are replaced as a whole. */
class LoadedSource implements ValueSource {
  revision: number;
  private values: ReadonlyMap<string, StoredValue>;

  constructor(loaded: LoadedValues) {
    this.revision = loaded.revision;
    this.values = byId(loaded);
  }

  readonly get = (id: string): StoredValue | undefined => this.values.get(id);

  replace(loaded: LoadedValues): void {
    if (loaded.revision <= this.revision) return;
    this.revision = loaded.revision;
    this.values = byId(loaded);
  }
}

const byId = ({ values }: LoadedValues): ReadonlyMap<string, StoredValue> =>
  new Map(values.map(({ content, ...value }) => [value.id, { ...value, value: content }]));

/** Concurrent callers wait for the running work instead of starting it again. */
const createSingleFlight = (work: () => Promise<void>): (() => Promise<void>) => {
  let flight: Promise<void> | undefined;
  return () => {
    flight ??= work().finally(() => {
      flight = undefined;
    });
    return flight;
  };
};
