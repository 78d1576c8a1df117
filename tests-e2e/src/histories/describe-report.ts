import { type Operation, type Outcome } from './history';
import { type WatchedHistory } from './recorder';
import { type WatchReport } from './watch-histories';

/** Whether every history was explained. */
export const isSerial = ({ histories }: WatchReport): boolean =>
  histories.every(({ verdict }) => verdict.type === 'serial');

/** Summary of a run and its findings, for humans. */
export const describeReport = (report: WatchReport): string => {
  const { histories, faults } = report;
  const operations = histories.flatMap(({ history }) => history.operations);
  const outcomes = countBy(operations.map(outcomeOf));
  const faultCounts = Object.entries(faults).map(([fault, count]) => `${fault} ${count}`);
  const failed = histories.filter(({ verdict }) => verdict.type !== 'serial');
  return [
    `${histories.length} histories of ${operations.length} operations: ${list(countBy(operations.map(kindOf)))}`,
    `outcomes: ${list(outcomes)}`,
    `faults: ${faultCounts.join(', ') || 'none'}`,
    ...failed.map(describeFailure),
    failed.length === 0
      ? 'Every history is explained by a serial order.'
      : `${failed.length} of ${histories.length} histories are not explained.`,
  ].join('\n');
};

const kindOf = ({ name }: Operation): string => name.split(' ')[0] ?? name;
const outcomeOf = ({ outcome }: Operation): string =>
  outcome.type === 'seen' ? 'answered with the state' : outcome.type;

const countBy = (names: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
};
const list = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([name, count]) => `${name} ${count}`).join(', ');

/** Operations that the best attempt placed last: the next ones contradict the state after them. */
const SHOWN = 5;

const describeFailure = ({ instanceId, history, verdict }: WatchedHistory): string => {
  if (verdict.type === 'serial') return '';
  if (verdict.type === 'undecided') return `${instanceId}: given up after ${verdict.steps} steps`;
  return [
    `${instanceId}: no order of its ${history.operations.length} operations explains all answers; ${verdict.longest.length} were placed, the last of them`,
    ...verdict.longest.slice(-SHOWN).map(describeOperation),
    '  and none of these can follow',
    ...verdict.next.slice(0, SHOWN).map(describeOperation),
  ].join('\n');
};

const describeOperation = ({ name, begunAt, endedAt, writes, outcome }: Operation): string =>
  `    ${name} [${begunAt.toFixed(1)}, ${endedAt.toFixed(1)}] ${writes === undefined ? '' : `writes ${JSON.stringify(writes)} `}${describeOutcome(outcome)}`;

const describeOutcome = (outcome: Outcome): string =>
  outcome.type === 'seen' ? `saw ${JSON.stringify(outcome.seen)}${outcome.settled ? ', settled' : ''}` : outcome.type;
