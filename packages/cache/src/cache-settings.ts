import { INVALIDATION_CHANNEL } from '@decision/contracts';
import { type CacheAddress, parseCacheUrl } from './connection/cache-address';

/** How to reach the cache. Times are milliseconds. */
export interface CacheSettings {
  /** `redis://` or, for TLS, `rediss://`, with user, password, port and database number. Undefined or empty: no cache. */
  readonly url: string | undefined;
  /** Prefix of every key, so that deployments can share a server. */
  readonly keyPrefix: string;
  /**
   * A secret that only the processes of the deployment share, at least 32 bytes. With it every entry is signed and only signed ones are
   * read. Undefined: everybody who can write to the cache is trusted.
   */
  readonly signingSecret?: Uint8Array | undefined;
  /** Prefix of the channel's name. Default: none; the channel is exactly `service:cache:invalidate`. */
  readonly channelPrefix?: string;
  /** How long a command may take before its reader goes on without it. Default 100, 1 to 10,000. */
  readonly commandTimeoutMs?: number;
  /** How long a connection may take to become usable. Default 2,000, 10 to 60,000. */
  readonly connectTimeoutMs?: number;
  /** Interval between heartbeats. Default 5,000, 10 to 60,000. */
  readonly heartbeatMs?: number;
  /** How long reads bypass the cache after three timeouts in a row; doubles up to five times this. Default 1,000, 10 to 60,000. */
  readonly circuitOpenMs?: number;
  /** Interval between attempts at pending deletes. Default 1,000, 10 to 60,000. */
  readonly eraseRetryMs?: number;
  /** PEM of the authority that signed the server's certificate, if the system does not trust it. */
  readonly tlsCa?: string | undefined;
  /** Certificate and private key of this client, PEM; both or neither. */
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
}

/** Settings with every default filled in. */
export interface ResolvedSettings {
  /** Undefined: no cache is configured. */
  readonly address: CacheAddress | undefined;
  readonly keyPrefix: string;
  readonly signingSecret: Uint8Array | undefined;
  readonly channel: string;
  readonly commandTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly heartbeatMs: number;
  readonly circuitOpenMs: number;
  readonly eraseRetryMs: number;
  readonly tlsCa: string | undefined;
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
}

const TIMES = {
  commandTimeoutMs: { defaultValue: 100, min: 1, max: 10_000 },
  connectTimeoutMs: { defaultValue: 2_000, min: 10, max: 60_000 },
  heartbeatMs: { defaultValue: 5_000, min: 10, max: 60_000 },
  circuitOpenMs: { defaultValue: 1_000, min: 10, max: 60_000 },
  eraseRetryMs: { defaultValue: 1_000, min: 10, max: 60_000 },
} as const;

const MIN_SECRET_BYTES = 32;

type TimeName = keyof typeof TIMES;

/** Fills in the defaults; throws a CacheSettingsError that lists every fault at once. */
export const resolveSettings = (settings: CacheSettings): ResolvedSettings => {
  const faults: string[] = [];
  const time = (name: TimeName): number => {
    const { defaultValue, min, max } = TIMES[name];
    const value = settings[name] ?? defaultValue;
    if (!(value >= min && value <= max)) faults.push(`${name} must be between ${min} and ${max} ms, not ${value}`);
    return value;
  };
  const { signingSecret } = settings;
  if (signingSecret !== undefined && signingSecret.length < MIN_SECRET_BYTES)
    faults.push(`signingSecret must have at least ${MIN_SECRET_BYTES} bytes, not ${signingSecret.length}`);
  const resolved: ResolvedSettings = {
    address: settings.url ? parseAddress(settings.url, faults) : undefined,
    keyPrefix: settings.keyPrefix,
    signingSecret,
    channel: `${settings.channelPrefix ?? ''}${INVALIDATION_CHANNEL}`,
    commandTimeoutMs: time('commandTimeoutMs'),
    connectTimeoutMs: time('connectTimeoutMs'),
    heartbeatMs: time('heartbeatMs'),
    circuitOpenMs: time('circuitOpenMs'),
    eraseRetryMs: time('eraseRetryMs'),
    tlsCa: settings.tlsCa,
    tlsCert: settings.tlsCert,
    tlsKey: settings.tlsKey,
  };
  if (faults.length > 0) throw new CacheSettingsError(faults);
  return resolved;
};

const parseAddress = (url: string, faults: string[]): CacheAddress | undefined => {
  const parsed = parseCacheUrl(url);
  if (parsed.ok) return parsed.address;
  faults.push(parsed.fault);
  return undefined;
};

/** Invalid settings or options. The message lists every fault and holds no secret; a retry cannot help. */
export class CacheSettingsError extends Error {
  override readonly name = 'CacheSettingsError';
  readonly code = 'cache_settings_invalid';
  readonly canRetry = false;

  constructor(readonly faults: readonly string[]) {
    super(`The cache cannot be used as configured: ${faults.join('; ')}.`);
  }
}
