import { DEFAULT_TOPIC_PREFIX, limits, messageHeadroom, TOPIC_PREFIX_PATTERN } from '@decision/contracts';
import {
  bounded,
  type Config,
  filePath,
  flag,
  limit,
  list,
  oneOf,
  optional,
  PAIRS,
  port,
  ratio,
  secret,
  text,
  url,
  wholeNumber,
} from './setting';

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Settings of traces (OpenTelemetry). The names and forms follow its standard. */
export const tracingSettings = {
  tracesEndpoint: optional(
    url('OTEL_EXPORTER_OTLP_ENDPOINT', {
      protocols: ['http', 'https'],
      meaning:
        'Where traces are sent, over OTLP (HTTP, protobuf), without /v1/traces. Not set: no traces are recorded, and their recorder is not loaded.',
    }),
  ),
  tracesHeaders: optional(
    secret('OTEL_EXPORTER_OTLP_HEADERS', { ...PAIRS, meaning: 'Headers of these requests, such as a token.' }),
  ),
  tracesCertificate: optional(
    filePath('OTEL_EXPORTER_OTLP_CERTIFICATE', {
      meaning: "PEM file of the authorities behind the certificate there; else the system's.",
    }),
  ),
  tracesSampleRatio: ratio('OTEL_TRACES_SAMPLER_ARG', {
    default: 1,
    meaning:
      'Part of the requests whose traces are recorded. A caller that sends the header traceparent has decided for its own requests.',
  }),
  tracesAttributes: optional(
    text('OTEL_RESOURCE_ATTRIBUTES', { ...PAIRS, meaning: 'Facts about this process that every trace carries.' }),
  ),
};

/** Settings of every process; {@link runService} reads them together with the service's own. */
export const processSettings = {
  ...tracingSettings,
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

const publicUrl = url('PUBLIC_URL', {
  protocols: ['http', 'https'],
  default: 'http://localhost:3000',
  meaning: 'Where people reach this deployment; the links that they are given begin with it.',
});

/** Settings of services that give people links. The address has no slash at its end. */
export const publicSettings = {
  publicUrl: {
    ...publicUrl,
    read: (text: string | undefined) => {
      const reading = publicUrl.read(text);
      return reading.ok ? { ...reading, value: reading.value.replace(/\/+$/, '') } : reading;
    },
  },
};

/** Settings of services that admit requests; each service has its own target. */
export const admissionSettings = {
  largeBodyThresholdBytes: limit(limits.largeBodyThresholdBytes),
  largeBodyMaxConcurrent: limit(limits.largeBodyMaxConcurrent),
  maxInFlightRequests: limit(limits.maxInFlightRequests),
  maxInFlightBytes: limit(limits.maxInFlightBytes),
};

/** Settings of every service that answers HTTP; spread them into the service's own. */
export const httpSettings = (defaultPort: number) => ({
  host: optional(
    text('HOST', {
      meaning:
        'Address to listen on. Not set: every address of the machine, of IPv4 and, where the machine has it, of IPv6.',
    }),
  ),
  port: port('PORT', defaultPort),
  metricsPort: optional(
    wholeNumber('METRICS_PORT', {
      min: 0,
      max: 65_535,
      meaning:
        'TCP port that answers /metrics in place of PORT, so that the metrics are not reachable where clients reach PORT; 0 takes a free one. Not set: PORT answers it.',
    }),
  ),
  apiMetrics: flag('API_METRICS', {
    default: true,
    meaning: 'Whether PORT answers /api/metrics, which everyone who reaches the API can read.',
  }),
  bodyLimitBytes: limit(limits.httpBodyBytes),
  requestTimeoutMs: wholeNumber('HTTP_REQUEST_TIMEOUT_MS', {
    default: 60_000,
    min: 1_000,
    max: 3_600_000,
    unit: 'ms',
    meaning: 'How long a client may take to send a body, and how long a streamed body may pause.',
  }),
  shutdownGraceMs: wholeNumber('SHUTDOWN_GRACE_MS', {
    default: 5_000,
    min: 0,
    max: 600_000,
    unit: 'ms',
    meaning:
      'How long connections are still accepted after SIGTERM while /ready answers 503, until requests are no longer routed here.',
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
        'What a proxy sends in x-proxy-secret to prove itself. Where it is set, x-forwarded-for is believed only with it; not set: every caller is taken for a proxy when TRUSTED_PROXIES is larger than 0.',
    }),
  ),
  logRequests: flag('LOG_REQUESTS', { meaning: 'Whether each request is logged in one line.' }),
});

/** The values of {@link httpSettings}. */
export type HttpConfig = Config<ReturnType<typeof httpSettings>>;

/** How a service proves who a person is. */
export const sessionSettings = {
  jwtSecret: optional(
    secret('JWT_SECRET', {
      minLength: 32,
      meaning:
        'Secret that sessions of people are signed with, the same in every service. Not set: API keys alone are accepted.',
    }),
  ),
  jwtSecretPrevious: optional(
    secret('JWT_SECRET_PREVIOUS', {
      minLength: 32,
      meaning: 'The previous secret during a rotation: sessions that were signed with it are valid until they end.',
    }),
  ),
};

/** How a service reaches the database. */
export const databaseSettings = {
  databaseUrl: url('DATABASE_URL', {
    protocols: ['postgres', 'postgresql'],
    secret: true,
    meaning:
      'The PostgreSQL database, 16 or 17, with wal_level = logical. TLS by its parameters sslmode=verify-full, sslrootcert, sslcert and sslkey, of which the last three name PEM files.',
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
  cacheSslCaFile: optional(
    text('CACHE_SSL_CA_FILE', {
      meaning:
        "PEM file of the authorities behind the cache's certificate, where CACHE_URL begins with rediss; else the system's.",
    }),
  ),
  cacheSslCertFile: optional(
    text('CACHE_SSL_CERT_FILE', { meaning: 'PEM file of the certificate that this client shows to the cache.' }),
  ),
  cacheSslKeyFile: optional(
    text('CACHE_SSL_KEY_FILE', { meaning: 'PEM file of the private key of that certificate.' }),
  ),
  cacheKeyPrefix: text('CACHE_KEY_PREFIX', {
    default: 'decision:',
    emptyIsValue: true,
    meaning: 'Prefix of every cache key, so that deployments can share a server.',
  }),
};

const executionMessageBytes = limit(limits.executionMessageBytes);
const logMessageBytes = limit(limits.logMessageBytes);

/** Results may be this many times as long as their inputs (specification: "Limits"). */
const EXPANSION = 16;

/** Sizes of messages, for services that send inputs to workers (docs/adr/0072-sizes-of-messages.md). */
export const inputSettings = {
  itemMaxBytes: bounded(limit(limits.itemMaxBytes), executionMessageBytes, (bytes) => bytes - messageHeadroom(bytes)),
  chunkBytes: bounded(limit(limits.chunkBytes), executionMessageBytes, (bytes) => Math.floor(bytes / EXPANSION)),
};

/** How a service reaches the message broker. */
export const brokerSettings = {
  mqBrokers: list('MQ_BROKERS', {
    default: [],
    pattern: /^[A-Za-z0-9._-]+:\d{1,5}$|^\[[0-9a-fA-F:]+\]:\d{1,5}$/,
    items: 'host:port pairs',
    meaning: 'Kafka bootstrap brokers. Without any the broker is disabled: solving answers 503.',
  }),
  mqTopicPrefix: text('MQ_TOPIC_PREFIX', {
    default: DEFAULT_TOPIC_PREFIX,
    pattern: TOPIC_PREFIX_PATTERN,
    accepts: 'letters, digits, dots, dashes and underscores, at most 200, or nothing',
    emptyIsValue: true,
    meaning: 'Prefix of the names of topics and consumer groups; empty: none.',
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
  mqSaslTokenSource: optional(
    oneOf('MQ_SASL_TOKEN_SOURCE', ['client-credentials', 'file', 'gcp'], {
      meaning:
        'Where tokens of oauthbearer come from: the token endpoint, a file, or the service account of this workload in Google Cloud. Not set: client-credentials with MQ_SASL_TOKEN_URL, file with MQ_SASL_TOKEN_FILE.',
    }),
  ),
  mqSaslTokenFile: optional(
    text('MQ_SASL_TOKEN_FILE', {
      meaning: 'File with a token that the platform keeps fresh, for oauthbearer; read again before the token ends.',
    }),
  ),
  gcpMetadataHost: text('GCE_METADATA_HOST', {
    default: 'metadata.google.internal',
    pattern: /^([A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\])(:\d{1,5})?$/,
    accepts: 'a host, or host:port',
    meaning: 'Metadata server of Google Cloud, which gives tokens where MQ_SASL_TOKEN_SOURCE is gcp.',
  }),
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
  executionMessageBytes,
  logMessageBytes,
};

/** Settings of decision logs, for every service that evaluates rules. */
export const decisionSettings = {
  decisionLogs: flag('DECISION_LOGS', {
    default: true,
    meaning: 'Whether every decision, with its request and response, is written to the topic `logs`.',
  }),
  decisionLogBufferBytes: limit(limits.decisionLogBufferBytes),
  decisionRecordMaxBytes: bounded(limit(limits.decisionRecordMaxBytes), logMessageBytes, (bytes) => bytes),
  decisionLogMaskKey: optional(
    secret('DECISION_LOG_MASK_KEY', {
      minLength: 16,
      meaning:
        'Key of the hashes that replace masked values in decision logs. Without it such values are left out. With another key equal values have different hashes.',
    }),
  ),
};

/** Limits of flow documents at their import. Flows that were published earlier keep running. */
export const flowDocumentSettings = {
  flowMaxNodes: wholeNumber('FLOW_MAX_NODES', {
    default: 1_000,
    min: 1,
    max: 10_000,
    meaning: 'Maximum number of nodes of an imported flow; it may have ten times as many connections.',
  }),
  flowMaxDepth: wholeNumber('FLOW_MAX_DEPTH', {
    default: 16,
    min: 1,
    max: 64,
    meaning: 'Maximum nesting of flows at an import, including the flow itself.',
  }),
};

/** Limits of flows, for every service that runs them. */
export const flowSettings = {
  flowMaxSteps: wholeNumber('FLOW_MAX_STEPS', {
    default: 1_000_000,
    min: 1_000,
    max: 1_000_000_000,
    meaning:
      'Maximum steps of one run of a flow: each node that runs or is skipped is one step, in loops and subflows for each item.',
  }),
  flowMaxWaiting: wholeNumber('FLOW_MAX_WAITING', {
    default: 500,
    min: 1,
    max: 100_000,
    meaning:
      'Runs of flows that may wait for other systems at once in one process; more are answered 429. While they wait, they hold only their inputs in memory.',
  }),
};

/** Threads for evaluations that are too long for the thread that handles messages: docs/adr/0026-long-evaluations-run-in-threads.md. */
export const evaluationSettings = {
  evaluationThreads: optional(
    wholeNumber('EVALUATION_THREADS', {
      min: 0,
      max: 64,
      meaning:
        'Threads for evaluations that are too long for the thread that handles messages: large inputs, long formulas, rules with many cells. Without it: one less than there are cores, at least 1 and at most 4. 0: everything is evaluated where messages are handled.',
    }),
  ),
  evaluationMaxWaiting: wholeNumber('EVALUATION_MAX_WAITING', {
    // As many as a worker holds messages at once, so that short inputs of a large rule wait here too instead of being refused.
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
      'How long one evaluation may run in a thread, including loading and compiling its rule; a thread that exceeds it is ended and restarted.',
  }),
  evaluationThreadBytes: wholeNumber('EVALUATION_THREAD_BYTES', {
    default: 134_217_728,
    min: 1_048_576,
    max: 68_719_476_736,
    unit: 'bytes',
    meaning:
      'Estimated memory of all compiled rules that one thread keeps, and as much again for compiled flows. One larger rule or flow is kept in addition.',
  }),
};
