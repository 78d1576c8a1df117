import { DEFAULT_TOPIC_PREFIX, limits, TOPIC_PREFIX_PATTERN } from '@decision/contracts';
import { flag, limit, list, oneOf, secret, text, wholeNumber } from './setting-builders';
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
  mqSsl: flag('MQ_SSL', { meaning: 'Whether the Kafka brokers are reached over TLS.' }),
  mqSslCaFile: optional(
    text('MQ_SSL_CA_FILE', {
      meaning: "PEM file of the authorities behind the brokers' certificates; else the system's.",
    }),
  ),
  mqSslCertFile: optional(text('MQ_SSL_CERT_FILE', { meaning: 'PEM file of the certificate that this client shows.' })),
  mqSslKeyFile: optional(text('MQ_SSL_KEY_FILE', { meaning: 'PEM file of the private key of that certificate.' })),
  mqSslServerName: optional(
    text('MQ_SSL_SERVER_NAME', { meaning: "Name in the brokers' certificates where it differs from their addresses." }),
  ),
  mqSaslMechanism: optional(
    oneOf('MQ_SASL_MECHANISM', ['plain', 'scram-sha-256', 'scram-sha-512', 'aws-iam', 'oauthbearer'], {
      meaning: 'How this client proves to the brokers who it is; without it it does not.',
    }),
  ),
  mqSaslUsername: optional(
    text('MQ_SASL_USERNAME', { meaning: 'User name; client id for oauthbearer, access key id for aws-iam.' }),
  ),
  mqSaslPassword: optional(
    secret('MQ_SASL_PASSWORD', { meaning: 'Password; client secret for oauthbearer, secret access key for aws-iam.' }),
  ),
  mqSaslRegion: optional(text('MQ_SASL_REGION', { meaning: 'AWS region of the brokers, for aws-iam.' })),
  mqSaslTokenUrl: optional(
    url('MQ_SASL_TOKEN_URL', { protocols: ['http', 'https'], meaning: 'OAuth 2 token endpoint, for oauthbearer.' }),
  ),
  mqSaslScope: optional(text('MQ_SASL_SCOPE', { meaning: 'Scope to ask the token endpoint for.' })),
  awsSessionToken: optional(
    secret('AWS_SESSION_TOKEN', { meaning: 'Session token of temporary AWS credentials, for aws-iam.' }),
  ),
  awsContainerCredentialsUrl: optional(
    url('AWS_CONTAINER_CREDENTIALS_FULL_URI', {
      protocols: ['http', 'https'],
      meaning: 'Where the platform gives this container AWS credentials, for aws-iam without a user name.',
    }),
  ),
  awsContainerTokenFile: optional(
    text('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', { meaning: 'File with the authorization to show there.' }),
  ),
};

/** Settings of decision logs, for every service that evaluates rules. */
export const decisionSettings = {
  decisionLogs: flag('DECISION_LOGS', {
    default: true,
    meaning: 'Whether every decision, with its request and response, is written to the topic `logs`.',
  }),
  decisionLogBufferBytes: limit(limits.decisionLogBufferBytes),
};

/** Threads for evaluations that are too long for the thread that handles messages. */
export const evaluationSettings = {
  evaluationThreads: optional(
    wholeNumber('EVALUATION_THREADS', {
      min: 0,
      max: 64,
      meaning:
        'Threads that evaluate what is too long for the thread that handles messages: large inputs, formulas that go on, rules of many cells. Without it: one less than there are cores, at least 1 and at most 4. 0: everything is evaluated where messages are handled.',
    }),
  ),
  evaluationMaxWaiting: wholeNumber('EVALUATION_MAX_WAITING', {
    // As many messages as a worker holds at once: inputs of a large rule that take a millisecond wait here too, and are not refused.
    default: 1_000,
    min: 0,
    max: 100_000,
    meaning: 'Long evaluations that may wait for a thread in one process; more are answered 429.',
  }),
  evaluationMaxMs: wholeNumber('EVALUATION_MAX_MS', {
    default: 15_000,
    min: 100,
    max: 600_000,
    unit: 'ms',
    meaning:
      'How long one evaluation may run in a thread, loading and compiling its rule included; a thread that overruns is ended and started again.',
  }),
  evaluationThreadBytes: wholeNumber('EVALUATION_THREAD_BYTES', {
    default: 134_217_728,
    min: 1_048_576,
    max: 68_719_476_736,
    unit: 'bytes',
    meaning:
      'Memory of all compiled rules that one thread keeps together, as they estimate it. One rule that is larger alone is kept beside them.',
  }),
};
