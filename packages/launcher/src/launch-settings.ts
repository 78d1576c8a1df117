import { DEFAULT_TOPIC_PREFIX, TOPIC_PREFIX_PATTERN } from '@decision/contracts';
import { LaunchError } from './launch-error';

/** Settings of `npm start` from the environment. */
export interface LaunchSettings {
  readonly ingressPort: number;
  readonly ports: {
    readonly database: number | undefined;
    readonly cache: number | undefined;
    readonly broker: number | undefined;
  };
  readonly external: {
    readonly databaseUrl: string | undefined;
    readonly cacheUrl: string | undefined;
    readonly mqBrokers: string | undefined;
  };
  readonly topicPrefix: string;
}

const DEFAULT_INGRESS_PORT = 8080;

/** Reads and checks the environment; throws {@link LaunchError} with every fault at once. */
export const readLaunchSettings = (environment: NodeJS.ProcessEnv): LaunchSettings => {
  const faults: string[] = [];
  const text = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const port = (name: string): number | undefined => {
    const value = text(name);
    if (value === undefined) return undefined;
    if (/^\d{1,5}$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535) return Number(value);
    faults.push(`${name} is "${value}"; it must be a port from 1 to 65535.`);
    return undefined;
  };
  const topicPrefix = environment['MQ_TOPIC_PREFIX'] ?? DEFAULT_TOPIC_PREFIX;
  if (!TOPIC_PREFIX_PATTERN.test(topicPrefix)) {
    faults.push(`MQ_TOPIC_PREFIX is "${topicPrefix}"; letters, digits, dots, dashes and underscores are allowed.`);
  }
  const settings = {
    ingressPort: port('INGRESS_PORT') ?? DEFAULT_INGRESS_PORT,
    ports: { database: port('DATABASE_PORT'), cache: port('CACHE_PORT'), broker: port('BROKER_PORT') },
    external: { databaseUrl: text('DATABASE_URL'), cacheUrl: text('CACHE_URL'), mqBrokers: text('MQ_BROKERS') },
    topicPrefix,
  };
  if (faults.length > 0) throw new LaunchError(faults.join('\n'));
  return settings;
};
