import type { ClusterChange, ClusterPlan, ClusterProblem, PlannedTopic } from '@decision/broker';
import type { Print } from './run-cli';

/** The settings of a new topic, in one line. */
export const settingsOf = ({ name, partitions, copies, settings }: PlannedTopic): string =>
  [
    `${name}: ${partitions} ${partitions === 1 ? 'partition' : 'partitions'}`,
    `${copies} ${copies === 1 ? 'copy' : 'copies'}`,
    ...settings.map((setting) => `${setting.name}=${setting.value}`),
  ].join(', ');

/**
 * Prints how a cluster differs from its plan: a line for each difference, followed by the command that fixes it, if any. Returns whether
 * there is an error. `isForecast`: missing topics are reported as to be created later.
 */
export const printPlan = (
  { topics, brokers }: ClusterPlan,
  { print, bootstrap, isForecast }: { print: Print; bootstrap: string; isForecast: boolean },
): boolean => {
  for (const planned of topics) {
    const { name, exists, problems } = planned;
    if (!exists && isForecast && problems.every(({ kind }) => kind === 'missing'))
      print(`would create ${settingsOf(planned)}`);
    else if (problems.length === 0) print(`fits ${name}`);
    else for (const problem of problems) printProblem(problem, { print, bootstrap, name });
  }
  for (const problem of brokers) printProblem(problem, { print, bootstrap, name: '' });
  const problems = [...topics.flatMap((planned) => planned.problems), ...brokers];
  if (problems.length === 0) print('The topics fit.');
  return problems.some(({ isWarning }) => !isWarning);
};

interface Reporting {
  readonly print: Print;
  /** Brokers, in the format of Kafka's tools. */
  readonly bootstrap: string;
  /** Of the topic. */
  readonly name: string;
}

const printProblem = ({ isWarning, problem, change }: ClusterProblem, { print, bootstrap, name }: Reporting): void => {
  print(`${isWarning ? 'warning' : 'error'}: ${problem}`);
  if (change !== undefined) print(`  ${commandOf(change, bootstrap, name)}`);
};

/** Prefixes have no characters that are special to a shell. */
const commandOf = (change: ClusterChange, bootstrap: string, name: string): string => {
  if ('partitions' in change)
    return `kafka-topics --bootstrap-server ${bootstrap} --alter --topic ${name} --partitions ${change.partitions}`;
  const entity =
    change.of === 'topic' ? `--entity-type topics --entity-name ${name}` : '--entity-type brokers --entity-default';
  return `kafka-configs --bootstrap-server ${bootstrap} --alter ${entity} --add-config ${change.setting}=${change.value}`;
};
