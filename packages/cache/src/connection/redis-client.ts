import { isIP } from 'node:net';
import { createClient, ErrorReply } from 'redis';
import type { CacheAddress } from './cache-address';
import type { ResolvedSettings } from '../cache-settings';

/** Commands that may wait for their answers on one connection; one more is refused at once. */
const MAX_QUEUED_COMMANDS = 10_000;

/**
 * A client that lives for one connection and never connects again: `superviseConnection` replaces it. It speaks RESP2 and sends nothing at
 * the start except AUTH and SELECT, if they are needed, so that it works with any plain cache endpoint.
 */
export const newRedisClient = (address: CacheAddress, settings: ResolvedSettings) =>
  createClient({
    RESP: 2,
    username: address.username,
    password: address.password,
    database: address.database,
    socket: {
      host: address.host,
      port: address.port,
      connectTimeout: settings.connectTimeoutMs,
      reconnectStrategy: false,
      ...tlsOptions(address, settings),
    },
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    commandsQueueMaxLength: MAX_QUEUED_COMMANDS,
    // It only covers the time until a command is written, at the cost of one signal per command; `resultWithin` covers the whole time.
    commandOptions: { timeout: undefined },
  });

export type RedisClient = ReturnType<typeof newRedisClient>;

const tlsOptions = ({ tls, host }: CacheAddress, { tlsCa, tlsCert, tlsKey }: ResolvedSettings) =>
  tls
    ? {
        tls: true as const,
        // Only a host name is sent (SNI), because endpoints behind a shared address choose their certificate by it; an IP address is not
        // allowed.
        ...(isIP(host) === 0 ? { servername: host } : {}),
        ...(tlsCa === undefined ? {} : { ca: tlsCa }),
        ...(tlsCert === undefined ? {} : { cert: tlsCert, key: tlsKey }),
      }
    : {};

/** A short name of the cause of a failure: a system code, the first word of the server's answer, or the kind of error. */
export const failureName = (error: unknown): string => {
  if (error instanceof ErrorReply) return /^[A-Z][A-Z0-9]*/.exec(error.message)?.[0] ?? 'ERR';
  if (typeof error !== 'object' || error === null) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.constructor.name;
};
