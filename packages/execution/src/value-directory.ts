import { type Cache, createReadThrough } from '@decision/cache';
import { cacheKeys, checkValueRevision, fixedLimits } from '@decision/contracts';
import { type StoredValue, type ValueSource } from '@decision/engine';
import { type LoadedValues } from '@decision/persistence';

/** Reads from the database, without regard to groups: a published rule resolves every value to which it is bound. */
interface ValueStore {
  findRevision(workspaceId: string): Promise<number>;
  load(workspaceId: string, ids: readonly string[]): Promise<LoadedValues>;
}

/** Tells how often the values of a workspace have changed, and opens the values that one rule refers to. */
export interface ValueDirectory {
  open(workspaceId: string, ids: readonly string[]): Promise<RuleValues>;
}

/** The values of one rule, as they are now. */
interface RuleValues {
  readonly source: ValueSource;
  /** Reads them again where the workspace's values may have changed since. What cannot be read stays as it was. */
  readonly refresh: () => Promise<void>;
  /** Whether this process knows, without asking anybody, that {@link refresh} would change nothing. */
  readonly isFresh: () => boolean;
}

export interface ValueDirectoryOptions {
  /** Called where values could not be read again; the rule goes on with those that it has. */
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
            // A cache may lag behind what was loaded, which is no reason to load it again.
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

/** Values that are exchanged as a whole. */
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

/** Whoever asks while the work is under way waits for it instead of beginning it again. */
const createSingleFlight = (work: () => Promise<void>): (() => Promise<void>) => {
  let flight: Promise<void> | undefined;
  return () => {
    flight ??= work().finally(() => {
      flight = undefined;
    });
    return flight;
  };
};
