import type { Validator } from '@decision/contracts';
import { CacheSettingsError } from '../cache-settings';

/** How one kind of entry is cached. Times are milliseconds. */
export interface ReadThroughOptions<T> {
  /** Label in metrics: one per kind of entry. */
  readonly name: string;
  /** Entries that this process holds, at least 1; the least recently used are evicted first. */
  readonly maxEntries: number;
  /** Bound of the sum of `sizeOf` over all values. Set both or neither. A larger value is not held. */
  readonly maxBytes?: number;
  readonly sizeOf?: (value: T) => number;
  /** How long this process serves an entry without asking the shared cache. Undefined: until it is evicted; only for immutable content. */
  readonly localTtlMs: number | undefined;
  /**
   * The greatest age of an entry anywhere, counted from the start of its load; it also bounds local copies. Undefined: it stays in the
   * shared cache until it is invalidated or evicted.
   */
  readonly sharedTtlMs: number | undefined;
  /**
   * A shared entry older than this is still served, but refreshed in the background, so that a lost invalidation has a bounded effect.
   * Default: 60,000 if entries change (`localTtlMs` is set) and do not expire (`sharedTtlMs` is not set); otherwise never. Infinity turns
   * it off.
   */
  readonly refreshAfterMs?: number;
  /** How long this process remembers that a key has no value; never shared. Default 1,000, 0 to 60,000. */
  readonly absentTtlMs?: number;
  /** Validates entries from the shared cache. Values must survive JSON unchanged. */
  readonly validate: Validator<T>;
  /** A load that took longer is not shared, since the second delete of a writer may have passed by then. Default 2,000. */
  readonly loadDeadlineMs?: number;
  /** Largest entry that is shared, in characters of its text. Default 8,388,608. */
  readonly maxSharedLength?: number;
  /** Milliseconds since the epoch; must never go back. Default: the process's monotonic clock. */
  readonly clock?: () => number;
}

/** Options with every default filled in; Infinity where something has no end. */
export interface ReadThroughPlan<T> {
  readonly name: string;
  readonly maxEntries: number;
  readonly maxBytes: number | undefined;
  readonly sizeOf: ((value: T) => number) | undefined;
  readonly localTtlMs: number;
  readonly sharedTtlMs: number;
  readonly refreshAfterMs: number;
  readonly absentTtlMs: number;
  readonly validate: Validator<T>;
  readonly loadDeadlineMs: number;
  readonly maxSharedLength: number;
  readonly clock: () => number;
}

const DEFAULT_REFRESH_MS = 60_000;
const DEFAULT_ABSENT_MS = 1_000;
const MAX_ABSENT_MS = 60_000;
const DEFAULT_LOAD_DEADLINE_MS = 2_000;
const DEFAULT_MAX_SHARED_LENGTH = 8 * 1024 * 1024;

/** Fills in the defaults; throws a CacheSettingsError that lists every fault at once. */
export const planReadThrough = <T>(options: ReadThroughOptions<T>): ReadThroughPlan<T> => {
  const { localTtlMs = Infinity, sharedTtlMs = Infinity } = options;
  const changesWithoutExpiry = localTtlMs !== Infinity && sharedTtlMs === Infinity;
  const plan: ReadThroughPlan<T> = {
    name: options.name,
    maxEntries: options.maxEntries,
    maxBytes: options.maxBytes,
    sizeOf: options.sizeOf,
    localTtlMs,
    sharedTtlMs,
    refreshAfterMs: options.refreshAfterMs ?? (changesWithoutExpiry ? DEFAULT_REFRESH_MS : Infinity),
    absentTtlMs: options.absentTtlMs ?? DEFAULT_ABSENT_MS,
    validate: options.validate,
    loadDeadlineMs: options.loadDeadlineMs ?? DEFAULT_LOAD_DEADLINE_MS,
    maxSharedLength: options.maxSharedLength ?? DEFAULT_MAX_SHARED_LENGTH,
    clock: options.clock ?? monotonicNow,
  };
  const faults = faultsOf(plan);
  if (faults.length > 0) throw new CacheSettingsError(faults);
  return plan;
};

const faultsOf = <T>(plan: ReadThroughPlan<T>): string[] => {
  const positive = ['localTtlMs', 'sharedTtlMs', 'refreshAfterMs', 'loadDeadlineMs', 'maxSharedLength'] as const;
  const faults = positive
    .filter((field) => !(plan[field] > 0))
    .map((field) => `${plan.name}: ${field} must be above 0`);
  const add = (isFault: boolean, sentence: string): void => void (isFault && faults.push(`${plan.name}: ${sentence}`));
  add(!Number.isInteger(plan.maxEntries) || plan.maxEntries < 1, 'maxEntries must be a whole number of at least 1');
  add((plan.maxBytes === undefined) !== (plan.sizeOf === undefined), 'maxBytes and sizeOf go together');
  add(
    plan.maxBytes !== undefined && !(Number.isInteger(plan.maxBytes) && plan.maxBytes > 0),
    'maxBytes must be a whole number above 0',
  );
  add(
    !(plan.absentTtlMs >= 0 && plan.absentTtlMs <= MAX_ABSENT_MS),
    `absentTtlMs must be between 0 and ${MAX_ABSENT_MS}`,
  );
  return faults;
};

/** Comparable between processes like the time of day, but unaffected by corrections of the system clock. */
const monotonicNow = (): number => performance.timeOrigin + performance.now();
