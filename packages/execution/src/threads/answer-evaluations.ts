import { type MessagePort } from 'node:worker_threads';
import { parseJson, ServiceError } from '@decision/contracts';
import { type CompiledRule, evaluateRule } from '@decision/engine';
import { type SolvedInput, solvedInput } from '../decisions/solved-input';
import { type FlowLibrary } from '../flows/flow-library';
import { type FlowJob, notFitting } from '../flows/flow-runner';
import { runPlan } from '../flows/run-plan';
import { createTurns } from '../flows/turns';
import { type RuleLibrary } from '../rule-library';
import { type EvaluationJobs, packAnswers, type ThreadAnswer, type ThreadJob, toPlain } from './thread-messages';

/** Libraries of one thread. */
interface ThreadLibraries {
  readonly rules: Pick<RuleLibrary, 'get' | 'bytes'>;
  readonly flows: Pick<FlowLibrary, 'get' | 'bytes'>;
}

/** Answers the jobs that come through a port, one after the other, as the thread's side of `createEvaluationThreads`. */
export const answerEvaluations = (port: MessagePort, libraries: ThreadLibraries): void => {
  let turn = Promise.resolve();
  port.on('message', (job: ThreadJob) => {
    turn = turn.then(async () => {
      const answer =
        job.of === 'rule' ? await answerRule(libraries.rules, job) : await answerFlow(libraries.flows, job);
      const compiledBytes = libraries.rules.bytes() + libraries.flows.bytes();
      try {
        port.postMessage({ ...answer, compiledBytes });
      } catch {
        // What nests too deeply for a message.
        port.postMessage({ failure: toPlain(tooDeep()), compiledBytes });
      }
    });
  });
};

const tooDeep = (): ServiceError =>
  new ServiceError('evaluation_failed', 'The outputs nest too deeply, or are too long, to be answered.');

export const unread = (): ServiceError => new ServiceError('internal_error', 'The job of a thread cannot be read.');

type RuleAnswer = Pick<ThreadAnswer, 'solved'>;

/** How long inputs are begun in one job, ms: others wait for the thread too. As long as a slice of the thread that handles messages. */
const SLICE_MS = 10;
/** Characters of results beyond which no further input is begun in one job. */
const MOST_RESULT_CHARACTERS = 1 << 20;

/** Answers the first inputs, at least one, and as many as fit in a slice. */
const answerRule = async (
  library: Pick<RuleLibrary, 'get'>,
  job: Extract<ThreadJob, { readonly of: 'rule' }>,
): Promise<RuleAnswer> => {
  const rule = await library.get(job.workspaceId, job.versionId).catch(failureOf);
  const solved: SolvedInput[] = [];
  const endsAt = performance.now() + SLICE_MS;
  let characters = 0;
  for (const [index, request] of job.requests.entries()) {
    if (job.begun !== undefined) Atomics.store(job.begun, 0, index);
    const one = solveOne(rule, request, job);
    solved.push(one);
    characters += one.result.length;
    if (characters > MOST_RESULT_CHARACTERS || performance.now() >= endsAt) break;
  }
  return { solved: packAnswers(solved) };
};

const solveOne = (
  rule: CompiledRule | ServiceError | undefined,
  request: string,
  { now, explain, audience }: EvaluationJobs,
): SolvedInput => {
  if (rule instanceof ServiceError) return solvedInput(request, rule, 0);
  try {
    const parsing = parseJson(request);
    if (rule === undefined || !parsing.ok) throw unread();
    const input = parsing.value as Readonly<Record<string, unknown>>; // as jobs say
    const beganAt = performance.now();
    const outcome = evaluateRule(rule, input, { now, explain, audience });
    return solvedInput(request, outcome, (performance.now() - beganAt) * 1_000);
  } catch (error) {
    return solvedInput(request, failureOf(error), 0);
  }
};

/** The thread has nothing else to do: its flows never pause. */
const turns = { ...createTurns(), mayGoOn: () => true };

const answerFlow = async (
  library: Pick<FlowLibrary, 'get'>,
  { workspaceId, versionId, request, now, trace, maxSteps, follows }: FlowJob,
): Promise<Pick<ThreadAnswer, 'outcome' | 'failure'>> => {
  try {
    const { plan, fault } = await library.get(workspaceId, versionId, follows);
    if (fault !== undefined) return { outcome: notFitting(fault) };
    const parsing = parseJson(request);
    if (plan === undefined || plan.reachesOut || !parsing.ok) throw unread();
    const input = parsing.value as Readonly<Record<string, unknown>>; // as jobs say
    return { outcome: await runPlan(plan, { input, now, trace, deadline: Infinity }, { turns, maxSteps }) };
  } catch (error) {
    return { failure: toPlain(failureOf(error)) };
  }
};

const failureOf = (error: unknown): ServiceError =>
  error instanceof ServiceError
    ? error
    : new ServiceError('internal_error', 'The rule or flow could not be loaded.', {}, { cause: error });
