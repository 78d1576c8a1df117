import { type Identity } from './authenticator';

interface KeyUseOptions {
  /** Writes down that a key was used now. Its failure costs the note, nothing else. */
  readonly record: (identity: Identity) => Promise<void>;
  /** Epoch ms. */
  readonly now: () => number;
  readonly onFailure?: (error: unknown) => void;
}

/** A key is noted at most so often, ms; the store keeps to the same. */
const INTERVAL_MS = 60_000;
/** Keys that are remembered; the one noted longest ago is forgotten first, and perhaps noted again too soon. */
const MAX_KEYS = 10_000;
/** Notes that may be on their way at once; a key whose turn this costs is noted with its next use. */
const MAX_PENDING = 10;

/** Tells of the use of keys, each at most once a minute, beside the requests and without holding them up. */
export const createKeyUse = ({ record, now, onFailure }: KeyUseOptions): ((identity: Identity) => void) => {
  const noted = new Map<string, number>();
  let pending = 0;
  return (identity) => {
    const last = noted.get(identity.keyId);
    if (pending >= MAX_PENDING || (last !== undefined && now() - last < INTERVAL_MS)) return;
    noted.delete(identity.keyId);
    noted.set(identity.keyId, now());
    const oldest = noted.keys().next().value;
    if (noted.size > MAX_KEYS && oldest !== undefined) noted.delete(oldest);
    pending += 1;
    record(identity)
      .catch((error: unknown) => onFailure?.(error))
      .finally(() => {
        pending -= 1;
      });
  };
};
