import { type MessagePort, type Worker } from 'node:worker_threads';
import { type ErrorCode, parseJson, ServiceError } from '@decision/contracts';
import { type Audience, evaluateRule, type ExplainMode } from '@decision/engine';
import { type SolvedInput, solvedInput } from '../decisions/solved-input';
import { type RuleLibrary } from '../rule-library';
import { type FlowOutcome } from '@decision/flows';
import { type FlowLibrary } from '../flows/flow-library';
import { type FlowJob, type FlowThreads, notFitting } from '../flows/flow-runner';
import { runPlan } from '../flows/run-plan';
import { createTurns } from '../flows/turns';
import { createThreadPool, type ThreadFaults, type ThreadPoolOptions, type ThreadPoolStatus } from '@decision/waiting';

/** An evaluation that is too long for the thread that handles messages. */
export interface EvaluationJob {
  readonly workspaceId: string;
  readonly versionId: string;
  /** The input: JSON text of an object. */
  readonly request: string;
  /** Epoch ms: the clock of the request. */
  readonly now: number;
  readonly explain: ExplainMode;
  /** As in the options of an evaluation. */
  readonly audience?: Audience | undefined;
}

type Job = ({ readonly of: 'rule' } & EvaluationJob) | ({ readonly of: 'flow' } & FlowJob);

/** Answer of a thread; errors are sent as parts, since messages between threads carry no classes. */
interface EvaluationAnswer extends Omit<SolvedInput, 'request' | 'error'> {
  readonly error: PlainError | undefined;
}

interface PlainError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: ServiceError['details'];
}

interface Answer {
  /** Of a rule. */
  readonly solved?: EvaluationAnswer;
  /** Of a flow. */
  readonly outcome?: FlowOutcome;
  /** The error, if there is neither. */
  readonly failure?: PlainError;
  /** Estimated bytes of all compiled rules and flows that the thread keeps. */
  readonly compiledBytes: number;
}

/** Threads for long evaluations, each with its own compiled rules. */
export interface EvaluationThreads extends Pick<FlowThreads, 'runFlow'> {
  /** `deadline` is epoch ms. Refusals of the pool are errors of the input, like failures of its evaluation. */
  solve(job: EvaluationJob, deadline: number): Promise<SolvedInput>;
  status(): ThreadPoolStatus;
  stop(drainMs?: number): Promise<void>;
}

export const createEvaluationThreads = (
  options: Omit<ThreadPoolOptions<Job, Answer>, 'affinityOf' | 'keptBytesOf' | 'faults'> & {
    readonly start: () => Worker;
  },
): EvaluationThreads => {
  const pool = createThreadPool<Job, Answer>({
    ...options,
    affinityOf: ({ versionId }) => versionId,
    keptBytesOf: ({ compiledBytes }) => compiledBytes,
    faults: evaluationFaults,
  });
  return {
    solve: async (job, deadline) => {
      const { solved } = await pool.run({ of: 'rule', ...job }, deadline);
      if (solved === undefined) throw unread();
      const { error, result, matched, durationUs } = solved;
      return { result, matched, durationUs, request: job.request, error: error && toError(error) };
    },
    runFlow: async (job, deadline) => {
      const { outcome, failure } = await pool.run({ of: 'flow', ...job }, deadline);
      if (outcome !== undefined) return outcome;
      throw failure === undefined ? unread() : toError(failure);
    },
    status: () => pool.status(),
    stop: (drainMs) => pool.stop(drainMs),
  };
};

const toError = ({ code, message, details }: PlainError): ServiceError => new ServiceError(code, message, details);

const unread = (): ServiceError => new ServiceError('internal_error', 'The job of a thread cannot be read.');

/** Libraries of one thread. */
interface ThreadLibraries {
  readonly rules: Pick<RuleLibrary, 'get' | 'bytes'>;
  readonly flows: Pick<FlowLibrary, 'get' | 'bytes'>;
}

/** Answers the jobs of a port one after the other: the thread's side of {@link createEvaluationThreads}. */
export const answerEvaluations = (port: MessagePort, libraries: ThreadLibraries): void => {
  let turn = Promise.resolve();
  port.on('message', (job: Job) => {
    turn = turn.then(async () => {
      const answer =
        job.of === 'rule' ? await answerRule(libraries.rules, job) : await answerFlow(libraries.flows, job);
      const compiledBytes = libraries.rules.bytes() + libraries.flows.bytes();
      try {
        port.postMessage({ ...answer, compiledBytes });
      } catch {
        // The outputs nest too deeply for a message.
        port.postMessage({ failure: pick(tooDeep()), compiledBytes });
      }
    });
  });
};

const tooDeep = (): ServiceError =>
  new ServiceError('evaluation_failed', 'The outputs nest too deeply, or are too long, to be answered.');

const answerRule = async (library: Pick<RuleLibrary, 'get'>, job: EvaluationJob): Promise<Pick<Answer, 'solved'>> => {
  const { result, error, matched, durationUs } = await solveJob(library, job);
  return { solved: { result, matched, durationUs, error: error && pick(error) } };
};

/** The thread has nothing else to do, so its flows never yield. */
const turns = { ...createTurns(), mayGoOn: () => true };

const answerFlow = async (
  library: Pick<FlowLibrary, 'get'>,
  { workspaceId, versionId, request, now, trace, maxSteps, follows }: FlowJob,
): Promise<Pick<Answer, 'outcome' | 'failure'>> => {
  try {
    const { plan, fault } = await library.get(workspaceId, versionId, follows);
    if (fault !== undefined) return { outcome: notFitting(fault) };
    const parsing = parseJson(request);
    if (plan === undefined || plan.reachesOut || !parsing.ok) throw unread();
    const input = parsing.value as Readonly<Record<string, unknown>>; // as jobs say
    return { outcome: await runPlan(plan, { input, now, trace, deadline: Infinity }, { turns, maxSteps }) };
  } catch (error) {
    return { failure: pick(failureOf(error)) };
  }
};

const failureOf = (error: unknown): ServiceError =>
  error instanceof ServiceError
    ? error
    : new ServiceError('internal_error', 'The rule or flow could not be loaded.', {}, { cause: error });

const solveJob = async (library: Pick<RuleLibrary, 'get'>, job: EvaluationJob): Promise<SolvedInput> => {
  const { workspaceId, versionId, request, now, explain, audience } = job;
  try {
    const rule = await library.get(workspaceId, versionId);
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

const pick = ({ code, message, details }: ServiceError): PlainError => ({ code, message, details });

const evaluationFaults: ThreadFaults = {
  tooMany: (limit) =>
    new ServiceError(
      'overloaded',
      `${limit} long evaluations wait for a thread already, which is the limit; try again later, or send smaller inputs.`,
      { limit },
    ),
  tooLate: () =>
    new ServiceError('deadline_exceeded', 'The deadline of the request passed before its long evaluation had ended.'),
  tooLong: (limitMs) =>
    new ServiceError(
      'evaluation_failed',
      `The evaluation took longer than ${limitMs} ms, which is the limit, and was ended; send a smaller input or ask about it in fewer rows.`,
      { reason: 'took_too_long', limit_ms: limitMs },
    ),
  ended: (cause) => {
    const sentence = 'The thread that evaluated the rule ended; its memory may not have sufficed.';
    return new ServiceError('internal_error', sentence, {}, { cause });
  },
  stopped: () => new ServiceError('shutting_down', 'The process stops; another one evaluates the request.'),
};
