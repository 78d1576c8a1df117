import { limits } from '@decision/contracts';
import { optional } from './setting';
import { flag, limit, oneOf, port, secret, text, wholeNumber } from './setting-builders';

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Settings of every process; {@link runService} reads them together with the service's own. */
export const processSettings = {
  logLevel: oneOf('LOG_LEVEL', logLevels, { default: 'info', meaning: 'Least level that is logged.' }),
  shutdownDrainMs: optional(
    wholeNumber('SHUTDOWN_DRAIN_MS', {
      min: 0,
      max: 3_700_000,
      unit: 'ms',
      meaning:
        'How long requests in flight may take to finish after SIGTERM and the grace period; 1.5 s later the process exits in any case. Not set: RPC_TIMEOUT_MS and 2 s, as long as requests may run; 62 s for a service that has no such setting.',
    }),
  ),
};

/** Settings of services that admit requests; the target that belongs to them is the service's own. */
export const admissionSettings = {
  largeBodyThresholdBytes: limit(limits.largeBodyThresholdBytes),
  largeBodyMaxConcurrent: limit(limits.largeBodyMaxConcurrent),
  maxInFlightRequests: limit(limits.maxInFlightRequests),
  maxInFlightBytes: limit(limits.maxInFlightBytes),
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
    meaning: 'How long a client may take to send a body, and may send nothing of one that is streamed.',
  }),
  shutdownGraceMs: wholeNumber('SHUTDOWN_GRACE_MS', {
    default: 5_000,
    min: 0,
    max: 600_000,
    unit: 'ms',
    meaning:
      'How long connections are still accepted after SIGTERM while /ready answers 503, until nobody sends requests here any more.',
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
  proxySecret: optional(
    secret('PROXY_SECRET', {
      minLength: 16,
      meaning:
        'What a proxy sends in x-proxy-secret to prove itself. Where it is set, x-forwarded-for is believed only with it; not set: whoever reaches the port is taken for a proxy when TRUSTED_PROXIES is larger than 0.',
    }),
  ),
  logRequests: flag('LOG_REQUESTS', { meaning: 'Whether each request is logged in one line.' }),
});
