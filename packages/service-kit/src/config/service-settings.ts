import { limits } from '@decision/contracts';
import { flag, limit, oneOf, port, text, wholeNumber } from './setting-builders';

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Settings of every process; {@link runService} reads them together with the service's own. */
export const processSettings = {
  logLevel: oneOf('LOG_LEVEL', logLevels, { default: 'info', meaning: 'Least level that is logged.' }),
  shutdownDrainMs: wholeNumber('SHUTDOWN_DRAIN_MS', {
    default: 8_000,
    min: 0,
    max: 600_000,
    unit: 'ms',
    meaning: 'How long requests in flight may take to finish after SIGTERM; 1.5 s later the process exits in any case.',
  }),
};

/** Settings of every service that answers HTTP; spread them into the service's own. */
export const httpSettings = (defaultPort: number) => ({
  host: text('HOST', { default: '0.0.0.0', meaning: 'Address to listen on.' }),
  port: port('PORT', defaultPort),
  bodyLimitBytes: limit(limits.httpBodyBytes),
  requestTimeoutMs: wholeNumber('HTTP_REQUEST_TIMEOUT_MS', {
    default: 60_000,
    min: 1_000,
    max: 3_600_000,
    unit: 'ms',
    meaning: 'How long a client may take to send a whole request.',
  }),
  keepAliveMs: wholeNumber('HTTP_KEEP_ALIVE_MS', {
    default: 75_000,
    min: 1_000,
    max: 3_600_000,
    unit: 'ms',
    meaning: 'How long an idle connection is kept; must exceed the idle timeout of the load balancer in front.',
  }),
  trustedProxies: wholeNumber('TRUSTED_PROXIES', {
    default: 0,
    min: 0,
    max: 10,
    unit: 'count',
    meaning:
      'Proxies in front of the service whose x-forwarded-for is believed; 0: the address of the connection counts.',
  }),
  logRequests: flag('LOG_REQUESTS', { meaning: 'Whether each request is logged in one line.' }),
});
