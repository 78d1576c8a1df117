import { type Facts, type Outcome, type Seen } from './history';
import { type ServiceAnswer } from './service-call';
import { FACTS } from './watched-context';

type Json = Readonly<Record<string, unknown>>;

/** Statuses of a run that has no work left. */
const FINISHED: ReadonlySet<unknown> = new Set(['solved', 'success', 'skipped_already_run']);
const UNFINISHED_REASONS: ReadonlySet<unknown> = new Set(['execution_unavailable', 'execution_in_progress']);

/** Outcome of a single submission. */
export const outcomeOfSubmission = (answer: ServiceAnswer | undefined, instanceId: string): Outcome =>
  answer?.status === 200
    ? { type: 'seen', seen: seenIn(answer.body['state']), settled: isSettled(answer.body, answer.body['cascaded']) }
    : outcomeOfFailure(answer, instanceId);

/** Outcome of one instance of a batch. */
export const outcomeInBatch = (answer: ServiceAnswer | undefined, instanceId: string): Outcome => {
  if (answer?.status !== 200) return outcomeOfFailure(answer, instanceId);
  const result = list(answer.body['results']).find((one) => one['instance_id'] === instanceId);
  if (result === undefined) return { type: 'unknown' };
  const settled = isSettled(answer.body, []) && isSettled(result, result['executed']);
  return { type: 'seen', seen: seenIn(result['state']), settled };
};

/** The state that the flow of a sender found where it had written; undefined if the answer does not confirm the write. */
export const stateSentIn = (answer: ServiceAnswer | undefined): Seen | undefined => {
  if (answer?.status !== 200) return undefined;
  const run = list(answer.body['cascaded']).find(({ flow }) => flow !== undefined);
  return run?.['status'] === 'solved' ? seenIn(record(run['result'])['written']) : undefined;
};

/** Outcome of a read. A read without an answer has none. */
export const outcomeOfRead = (answer: ServiceAnswer | undefined): Outcome => {
  if (answer?.status === 200) return { type: 'seen', seen: seenIn(answer.body['state']), settled: false };
  const isAbsent = answer?.status === 404 && answer.body['code'] === 'instance_not_found';
  return isAbsent ? { type: 'seen', seen: { facts: {}, decided: null }, settled: false } : { type: 'unknown' };
};

/** Values of each tracked fact, oldest first. */
export const ordersIn = (
  answer: ServiceAnswer | undefined,
): Readonly<Record<string, readonly number[]>> | undefined => {
  if (answer?.status !== 200) return undefined;
  const history = record(answer.body['history']);
  return Object.fromEntries(
    FACTS.map((fact) => [
      fact,
      list(history[fact])
        .map(({ value }) => Number(value))
        .reverse(),
    ]),
  );
};

/** An error names the instances that it committed, and those with an unknown commit. */
const outcomeOfFailure = (answer: ServiceAnswer | undefined, instanceId: string): Outcome => {
  if (answer?.status === 0) return { type: 'refused' };
  const { committed_instance_ids: committed, unknown_instance_ids: unknown } = answer?.body ?? {};
  if (!Array.isArray(committed)) return { type: 'unknown' };
  if (committed.includes(instanceId)) return { type: 'committed' };
  return { type: Array.isArray(unknown) && unknown.includes(instanceId) ? 'unknown' : 'refused' };
};

const isSettled = (answer: Json, runs: unknown): boolean =>
  answer['execution_degraded'] === undefined &&
  answer['stopped_by'] === undefined &&
  !UNFINISHED_REASONS.has(answer['reason']) &&
  list(runs).every(({ status }) => FINISHED.has(status));

const seenIn = (state: unknown): Seen => {
  const values = record(state);
  const facts: Record<string, number> = {};
  for (const fact of FACTS) if (typeof values[fact] === 'number') facts[fact] = values[fact];
  return { facts: facts satisfies Facts, decided: typeof values['pair'] === 'number' ? values['pair'] : null };
};

const record = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {}); // an object's keys are strings
const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(record) : []);
