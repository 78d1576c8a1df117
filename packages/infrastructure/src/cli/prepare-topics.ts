import { brokerSecurity, createBroker } from '@decision/broker';
import { type TopicKey, topics } from '@decision/contracts';
import { brokerSettings, createLogger, readConfig, StartRefusal, wholeNumber } from '@decision/service-kit';
import { configuredMessageBytes } from '../open-broker';
import { type Environment, type Print, runCli } from './run-cli';

const partitions = (name: string, topic: TopicKey) =>
  wholeNumber(`TOPIC_${name}_PARTITIONS`, {
    default: topics[topic].partitions,
    ...{ min: 1, max: 10_000 },
    meaning: `Partitions of the topic ${topics[topic].name} at least.`,
  });

const replication = (name: string, topic: TopicKey) =>
  wholeNumber(`TOPIC_${name}_REPLICATION`, {
    ...{ default: 1, min: 1, max: 15 },
    meaning: `Copies of each partition of the topic ${topics[topic].name}, when it is made.`,
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
    meaning: 'How long the topic logs keeps messages, ms, when it is made.',
  }),
};

/**
 * `MQ_BROKERS=... node dist/cli/prepare-topics.js [--dry-run]`: makes the topics that do not exist, with their limits, and says what of the others does not
 * fit; those it leaves as they are. With `--dry-run` it makes none. Reads the settings of brokers as every service does. Answers the exit code: 0 where
 * every topic fits now.
 */
export const prepareTopics = async (
  environment: Environment,
  print: Print,
  args: readonly string[] = [],
): Promise<number> => {
  const config = readConfig(settings, { ...environment });
  const security = brokerSecurity(config);
  if (!security.ok) throw new StartRefusal(security.faults.join(' '));
  if (config.mqBrokers.length === 0) throw new StartRefusal('MQ_BROKERS is not set. Set it to the brokers, host:port.');
  const wanted = {
    solution: config.solutionPartitions,
    solutionResponse: config.solutionResponsePartitions,
    logs: config.logsPartitions,
  };
  const logger = createLogger({ service: 'prepare-topics', level: 'fatal' });
  const broker = createBroker(
    {
      brokers: config.mqBrokers,
      clientId: 'prepare-topics',
      topicPrefix: config.mqTopicPrefix,
      messageBytes: configuredMessageBytes(config),
      ...security.settings,
    },
    logger,
  );
  try {
    if (!args.includes('--dry-run')) {
      const { created } = await broker.ensureTopics('production', {
        partitions: wanted,
        replication: {
          solution: config.solutionReplication,
          solutionResponse: config.solutionResponseReplication,
          logs: config.logsReplication,
        },
        logsRetentionMs: config.logsRetentionMs,
      });
      created.forEach((name) => print(`created ${name}`));
    }
    const problems = await broker.checkTopics(
      (Object.keys(wanted) as TopicKey[]).map((topic) => ({ topic, partitions: wanted[topic] })), // the keys above
    );
    problems.forEach(({ problem }) => print(problem));
    if (problems.length === 0) print('The topics fit.');
    return problems.some(({ isWarning }) => !isWarning) ? 1 : 0;
  } finally {
    await broker.close();
  }
};

if (require.main === module) runCli((environment, print) => prepareTopics(environment, print, process.argv.slice(2)));
