import { createHmac } from 'node:crypto';
import { type DecidedBy, type LoggingPolicy, type MaskValue, NOTHING_SHOWN, stricterPolicy } from '@decision/execution';
import { ServiceError } from '@decision/contracts';
import { withDeadline } from '@decision/waiting';
import { type Database, findContextLogging, findVersionLogging, type Transaction } from '@decision/persistence';
import { LRUCache } from 'lru-cache';

/** Versions and contexts. */
const MAX_KNOWN = 50_000;
/** Lifetime of the policy of a flow or context, ms: the assets that a flow runs may change theirs. That of a rule version never changes. */
const CHANGING_TTL_MS = 60_000;
/** Hex digits of a mask. */
const MASK_DIGITS = 32;

/** A version whose decisions may be logged in full. */
const EVERYTHING = {};
type Known = LoggingPolicy | typeof EVERYTHING;

const LOOKUP_MS = 2_000;

const tooSlow = (ms: number): ServiceError =>
  new ServiceError(
    'database_unavailable',
    `The database did not say within ${ms} ms what of a decision may be logged.`,
  );

const isPolicy = (known: Known): known is LoggingPolicy => known !== EVERYTHING;

interface LoggingPoliciesOptions {
  readonly database: Pick<Database, 'inWorkspace'>;
  /** Time limit of the database, ms. Default 2000. */
  readonly lookupMs?: number | undefined;
  /** Called if the database did not answer; then nothing of the decision is shown. */
  readonly onUnknown: (error: unknown) => void;
}

/**
 * Finds the parts of a decision that may be logged: those that both its version and its context permit. Never rejects: without a known
 * policy nothing is shown.
 */
export const createLoggingPolicies = (options: LoggingPoliciesOptions) => {
  const ofVersion = remember(options, {
    find: async (transaction, versionId) => {
      const found = await findVersionLogging(transaction, versionId);
      if (found === undefined) return undefined;
      const { settings, isWithin, isFlow } = found;
      const policy =
        settings === undefined && !isWithin ? EVERYTHING : { settings: settings ?? {}, hidesTrace: isWithin };
      return { policy, ...(isFlow ? { ttlMs: CHANGING_TTL_MS } : {}) };
    },
    // The policy of the flow version itself never changes.
    whenAway: (before) => ({ settings: shown(before)?.settings ?? {}, hidesTrace: true }),
  });
  const ofContext = remember(options, {
    find: async (transaction, slug) => {
      const found = await findContextLogging(transaction, slug);
      if (found === undefined) return undefined;
      const { settings } = found;
      const policy = settings === undefined ? EVERYTHING : { settings, hidesTrace: false };
      return { policy, ttlMs: CHANGING_TTL_MS };
    },
    whenAway: () => NOTHING_SHOWN,
  });
  return ({ workspaceId, versionId, context }: DecidedBy): MaybePolicy | Promise<MaybePolicy> => {
    // No version was chosen, and nothing of the input is recorded.
    if (versionId === '') return undefined;
    const version = ofVersion(workspaceId, versionId);
    if (context === undefined) return version;
    const own = ofContext(workspaceId, context);
    if (!(version instanceof Promise) && !(own instanceof Promise)) return stricterPolicy(version, own);
    return Promise.all([version, own]).then(([a, b]) => stricterPolicy(a, b));
  };
};

type MaybePolicy = LoggingPolicy | undefined;

interface Found {
  readonly policy: Known;
  /** Lifetime, ms; undefined: for ever. */
  readonly ttlMs?: number;
}

interface Lookup {
  /** Undefined if the version or context no longer exists. */
  readonly find: (transaction: Transaction, key: string) => Promise<Found | undefined>;
  /** The fallback while the database does not answer and an earlier policy is known. */
  readonly whenAway: (before: Known) => LoggingPolicy;
}

/** Remembers the policies found; at most one lookup at a time for each key. */
const remember = (
  { database, onUnknown, lookupMs = LOOKUP_MS }: LoggingPoliciesOptions,
  { find, whenAway }: Lookup,
) => {
  const known = new LRUCache<string, Known>({ max: MAX_KNOWN, noDeleteOnStaleGet: true });
  const loading = new Map<string, Promise<Known>>();
  const load = async (workspaceId: string, key: string, name: string): Promise<Known> => {
    try {
      const asked = database.inWorkspace({ workspaceId, userGroups: undefined }, (transaction) =>
        find(transaction, key),
      );
      const found = await withDeadline(asked, lookupMs, () => tooSlow(lookupMs));
      if (found === undefined) return NOTHING_SHOWN;
      known.set(name, found.policy, found.ttlMs === undefined ? {} : { ttl: found.ttlMs });
      return found.policy;
    } catch (error) {
      onUnknown(error);
      const before = known.get(name, { allowStale: true });
      return before === undefined ? NOTHING_SHOWN : whenAway(before);
    } finally {
      loading.delete(name);
    }
  };
  return (workspaceId: string, key: string): MaybePolicy | Promise<MaybePolicy> => {
    const name = `${workspaceId}/${key}`;
    const policy = known.get(name);
    if (policy !== undefined) return shown(policy);
    const found = loading.get(name) ?? load(workspaceId, key, name);
    loading.set(name, found);
    return found.then(shown);
  };
};

const shown = (policy: Known): LoggingPolicy | undefined => (isPolicy(policy) ? policy : undefined);

/** Masks values with a key derived from the operator's for each workspace; undefined without such a key. */
export const createMasks = (key: string | undefined): ((workspaceId: string) => MaskValue) => {
  if (key === undefined) return () => undefined;
  return (workspaceId) => {
    const own = createHmac('sha256', key).update(workspaceId).digest();
    return (text) => `hmac:${createHmac('sha256', own).update(text).digest('hex').slice(0, MASK_DIGITS)}`;
  };
};
