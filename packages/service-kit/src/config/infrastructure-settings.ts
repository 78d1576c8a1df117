import { DEFAULT_TOPIC_PREFIX, TOPIC_PREFIX_PATTERN } from '@decision/contracts';
import { list, text, wholeNumber } from './setting-builders';
import { optional } from './setting';
import { url } from './url-setting';

/** How a service reaches the database. */
export const databaseSettings = {
  databaseUrl: url('DATABASE_URL', {
    protocols: ['postgres', 'postgresql'],
    secret: true,
    meaning: 'The PostgreSQL database, 16 or 17, with wal_level = logical.',
  }),
  databasePoolMax: wholeNumber('DATABASE_POOL_MAX', {
    default: 10,
    min: 1,
    max: 1_000,
    meaning: 'Connections that this process may hold open at once.',
  }),
};

/** How a service reaches the cache. */
export const cacheSettings = {
  cacheUrl: optional(
    url('CACHE_URL', {
      protocols: ['redis', 'rediss'],
      secret: true,
      meaning: 'The Redis server; without it everything works from the database, slower.',
    }),
  ),
  cacheKeyPrefix: text('CACHE_KEY_PREFIX', {
    default: 'decision:',
    emptyIsValue: true,
    meaning: 'Put before every cache key, so that deployments can share a server.',
  }),
};

/** How a service reaches the message broker. */
export const brokerSettings = {
  mqBrokers: list('MQ_BROKERS', {
    default: [],
    pattern: /^[A-Za-z0-9._-]+:\d{1,5}$|^\[[0-9a-fA-F:]+\]:\d{1,5}$/,
    items: 'host:port pairs',
    meaning: 'Kafka brokers to begin with. Without any the broker is disabled: solving answers 503.',
  }),
  mqTopicPrefix: text('MQ_TOPIC_PREFIX', {
    default: DEFAULT_TOPIC_PREFIX,
    pattern: TOPIC_PREFIX_PATTERN,
    accepts: 'letters, digits, dots, dashes and underscores, at most 200, or nothing',
    emptyIsValue: true,
    meaning: 'Put before the names of topics and consumer groups; empty disables prefixing of both.',
  }),
};
