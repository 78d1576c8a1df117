/** Addresses of the servers of a fleet. */
export interface ServerAddresses {
  readonly databaseUrl: string;
  readonly cacheUrl: string;
  /** Comma-separated host:port. */
  readonly mqBrokers: string;
  /** Login of the brokers, by SCRAM-SHA-256; undefined if they ask for none. */
  readonly brokerLogin?: { readonly username: string; readonly password: string } | undefined;
}

export interface FleetNames {
  readonly topicPrefix: string;
  readonly cachePrefix: string;
}

/** Environment of every service. */
export const serviceEnvironment = (
  addresses: ServerAddresses,
  names: FleetNames,
  partitions: number,
): Record<string, string> => ({
  NODE_ENV: 'production',
  DATABASE_URL: addresses.databaseUrl,
  CACHE_URL: addresses.cacheUrl,
  CACHE_KEY_PREFIX: names.cachePrefix,
  MQ_BROKERS: addresses.mqBrokers,
  ...(addresses.brokerLogin === undefined
    ? {}
    : {
        MQ_SASL_MECHANISM: 'scram-sha-256',
        MQ_SASL_USERNAME: addresses.brokerLogin.username,
        MQ_SASL_PASSWORD: addresses.brokerLogin.password,
      }),
  MQ_TOPIC_PREFIX: names.topicPrefix,
  MAX_WORKERS: String(partitions),
  // The ingress says who called it, and proves itself with PROXY_SECRET.
  TRUSTED_PROXIES: '1',
  // Everything together must have stopped ten seconds after Ctrl-C.
  SHUTDOWN_DRAIN_MS: '2500',
  // The ingress is stopped first.
  SHUTDOWN_GRACE_MS: '0',
});
