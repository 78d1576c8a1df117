import { createHmac } from 'node:crypto';
import { type LoggingPolicy, type MaskValue, NOTHING_SHOWN } from '@decision/execution';
import { ServiceError } from '@decision/contracts';
import { withDeadline } from '@decision/waiting';
import { type Database, findVersionLogging } from '@decision/persistence';
import { LRUCache } from 'lru-cache';

const MAX_VERSIONS = 50_000;
/** How long what a flow says counts, ms: what it runs may say something else by then. A rule of a version never does. */
const FLOW_TTL_MS = 60_000;
/** Hex digits of a mask. */
const MASK_DIGITS = 32;

/** A version whose decisions may be logged whole. */
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
  /** How long the database may take, ms. Default 2000. */
  readonly lookupMs?: number | undefined;
  /** Called where the database did not answer; then nothing of the decision is shown. */
  readonly onUnknown: (error: unknown) => void;
}

/** Finds what of the decisions of a version may be logged. Never rejects: what is not known is not shown. */
export const createLoggingPolicies = ({ database, onUnknown, lookupMs = LOOKUP_MS }: LoggingPoliciesOptions) => {
  const known = new LRUCache<string, Known>({ max: MAX_VERSIONS, noDeleteOnStaleGet: true });
  const loading = new Map<string, Promise<Known>>();
  const load = async (workspaceId: string, versionId: string): Promise<Known> => {
    try {
      const asked = database.inWorkspace({ workspaceId, userGroups: undefined }, (transaction) =>
        findVersionLogging(transaction, versionId),
      );
      const found = await withDeadline(asked, lookupMs, () => tooSlow(lookupMs));
      if (found === undefined) return NOTHING_SHOWN;
      const { settings, isWithin, isFlow } = found;
      const policy =
        settings === undefined && !isWithin ? EVERYTHING : { settings: settings ?? {}, hidesTrace: isWithin };
      known.set(versionId, policy, isFlow ? { ttl: FLOW_TTL_MS } : {});
      return policy;
    } catch (error) {
      onUnknown(error);
      const before = known.get(versionId, { allowStale: true });
      if (before === undefined) return NOTHING_SHOWN;
      // What a flow itself says never changes.
      return { settings: shown(before)?.settings ?? {}, hidesTrace: true };
    } finally {
      loading.delete(versionId);
    }
  };
  return (workspaceId: string, versionId: string): LoggingPolicy | undefined | Promise<LoggingPolicy | undefined> => {
    // Nothing was chosen, and nothing of the input is on record.
    if (versionId === '') return undefined;
    const policy = known.get(versionId);
    if (policy !== undefined) return shown(policy);
    const found = loading.get(versionId) ?? load(workspaceId, versionId);
    loading.set(versionId, found);
    return found.then(shown);
  };
};

const shown = (policy: Known): LoggingPolicy | undefined => (isPolicy(policy) ? policy : undefined);

/** Masks values with a key of the operator, in each workspace with a key of its own; undefined where there is none. */
export const createMasks = (key: string | undefined): ((workspaceId: string) => MaskValue) => {
  if (key === undefined) return () => undefined;
  return (workspaceId) => {
    const own = createHmac('sha256', key).update(workspaceId).digest();
    return (text) => `hmac:${createHmac('sha256', own).update(text).digest('hex').slice(0, MASK_DIGITS)}`;
  };
};
