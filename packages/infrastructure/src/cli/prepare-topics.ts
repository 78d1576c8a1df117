import { type Broker, brokerSecurity, type ClusterPlan, creatable, createBroker } from '@decision/broker';
import { type TopicKey, topics } from '@decision/contracts';
import {
  brokerSettings,
  type Config,
  createLogger,
  readConfig,
  StartRefusal,
  wholeNumber,
} from '@decision/service-kit';
import { configuredMessageBytes } from '../open-broker';
import { type Environment, type Print, runCli } from './run-cli';
import { printPlan, settingsOf } from './topic-report';

const partitions = (name: string, topic: TopicKey) =>
  wholeNumber(`TOPIC_${name}_PARTITIONS`, {
    default: topics[topic].partitions,
    ...{ min: 1, max: 10_000 },
    meaning: `Partitions of the topic ${topics[topic].name} at least.`,
  });

const replication = (name: string, topic: TopicKey) =>
  wholeNumber(`TOPIC_${name}_REPLICATION`, {
    ...{ default: 1, min: 1, max: 15 },
    meaning: `Copies of each partition of the topic ${topics[topic].name} at least.`,
  });

const settings = {
  ...brokerSettings,
  solutionPartitions: partitions('SOLUTION', 'solution'),
  solutionReplication: replication('SOLUTION', 'solution'),
  solutionResponsePartitions: partitions('SOLUTION_RESPONSE', 'solutionResponse'),
  solutionResponseReplication: replication('SOLUTION_RESPONSE', 'solutionResponse'),
  logsPartitions: partitions('LOGS', 'logs'),
  logsReplication: replication('LOGS', 'logs'),
  logsRetentionMs: wholeNumber('TOPIC_LOGS_RETENTION_MS', {
    ...{ default: topics.logs.retentionMs, min: 60_000, max: Number.MAX_SAFE_INTEGER },
    meaning: 'How long the topic logs keeps messages, ms.',
  }),
};

/**
 * `MQ_BROKERS=... node dist/cli/prepare-topics.js [--dry-run]`: creates the missing topics with all their settings, and reports how the
 * other topics and the brokers differ from the plan; nothing that exists is changed or deleted. With `--dry-run` it creates none and
 * reports those it would create. Reads the settings of brokers as every service does. Answers the exit code: 0 if every topic exists and
 * there are at most warnings.
 */
export const prepareTopics = async (
  environment: Environment,
  print: Print,
  args: readonly string[] = [],
): Promise<number> => {
  const config = readConfig(settings, { ...environment });
  const broker = openBroker(config);
  const options = topicOptions(config);
  const isForecast = args.includes('--dry-run');
  try {
    const plan = await broker.planTopics('production', options);
    const missing = isForecast ? [] : creatable(plan);
    if (missing.length > 0) await createTopics(broker, plan, { ...options, topics: missing }, print);
    const now = missing.length > 0 ? await broker.planTopics('production', options) : plan;
    return printPlan(now, { print, bootstrap: config.mqBrokers.join(), isForecast }) ? 1 : 0;
  } finally {
    await broker.close();
  }
};

const openBroker = (config: Config<typeof settings>): Broker => {
  const security = brokerSecurity(config);
  if (!security.ok) throw new StartRefusal(security.faults.join(' '));
  if (config.mqBrokers.length === 0) throw new StartRefusal('MQ_BROKERS is not set. Set it to the brokers, host:port.');
  return createBroker(
    {
      brokers: config.mqBrokers,
      clientId: 'prepare-topics',
      topicPrefix: config.mqTopicPrefix,
      messageBytes: configuredMessageBytes(config),
      ...security.settings,
    },
    createLogger({ service: 'prepare-topics', level: 'fatal' }),
  );
};

type TopicOptions = NonNullable<Parameters<Broker['ensureTopics']>[1]>;

const topicOptions = (config: Config<typeof settings>): TopicOptions => ({
  partitions: {
    solution: config.solutionPartitions,
    solutionResponse: config.solutionResponsePartitions,
    logs: config.logsPartitions,
  },
  replication: {
    solution: config.solutionReplication,
    solutionResponse: config.solutionResponseReplication,
    logs: config.logsReplication,
  },
  logsRetentionMs: config.logsRetentionMs,
});

const createTopics = async (broker: Broker, plan: ClusterPlan, options: TopicOptions, print: Print): Promise<void> => {
  const created = new Set((await broker.ensureTopics('production', options)).created);
  for (const planned of plan.topics) if (created.has(planned.name)) print(`created ${settingsOf(planned)}`);
};

if (require.main === module) runCli((environment, print) => prepareTopics(environment, print, process.argv.slice(2)));
