import { type Worker } from 'node:worker_threads';
import { ServiceError } from '@decision/contracts';
import { createThreadPool, type ThreadFaults, type ThreadPoolOptions, type ThreadPoolStatus } from '@decision/waiting';
import { type SolvedInput, solvedInput } from '../decisions/solved-input';
import { type FlowThreads } from '../flows/flow-runner';
import { unread } from './answer-evaluations';
import {
  type EvaluationJob,
  type EvaluationJobs,
  fromPlain,
  type ThreadAnswer,
  type ThreadJob,
  unpackAnswers,
} from './thread-messages';

/** Threads for long evaluations, each with its own compiled rules. */
export interface EvaluationThreads extends Pick<FlowThreads, 'runFlow'> {
  /** `deadline` is epoch ms. Rejects with a refusal of the pool; a failure of the evaluation is an answer. */
  solve(job: EvaluationJob, deadline: number): Promise<SolvedInput>;
  /**
   * Answers the first inputs of a list, at least one, and as many as a thread evaluates in some milliseconds; ask again for the others. An
   * input that runs too long, or whose thread ends, is answered with that error, and those before it are evaluated again. Rejects where the
   * deadline passes, too many jobs wait, the process stops, or the rule takes too long to be loaded.
   */
  solveFirst(jobs: EvaluationJobs, deadline: number): Promise<readonly SolvedInput[]>;
  status(): ThreadPoolStatus;
  stop(drainMs?: number): Promise<void>;
}

/** Inputs that go to a thread in one job, and the characters of them together, unless one alone is longer: what a thread reads in some milliseconds. */
const MOST_INPUTS = 1_000;
const MOST_CHARACTERS = 1 << 18;

/** No input has been begun: the rule is loaded and compiled, or the thread starts. */
const NONE = -1;

export const createEvaluationThreads = (
  options: Omit<ThreadPoolOptions<ThreadJob, ThreadAnswer>, 'affinityOf' | 'isPart' | 'keptBytesOf' | 'faults'> & {
    readonly start: () => Worker;
  },
): EvaluationThreads => {
  const pool = createThreadPool<ThreadJob, ThreadAnswer>({
    ...options,
    affinityOf: ({ versionId }) => versionId,
    isPart: (job) => job.of === 'rule' && job.begun !== undefined,
    keptBytesOf: ({ compiledBytes }) => compiledBytes,
    faults: evaluationFaults,
  });

  const runRule = async (
    jobs: EvaluationJobs,
    deadline: number,
    begun: Int32Array | undefined,
  ): Promise<readonly SolvedInput[]> => {
    const { solved } = await pool.run({ of: 'rule', ...jobs, begun }, deadline);
    if (solved === undefined) throw unread();
    return unpackAnswers(solved, jobs.requests);
  };

  const solveFirst: EvaluationThreads['solveFirst'] = async (jobs, deadline) => {
    const requests = firstOf(jobs.requests);
    const begun = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)).fill(NONE);
    const beganAt = performance.now();
    try {
      return await runRule({ ...jobs, requests }, deadline, begun);
    } catch (error) {
      const failed = Atomics.load(begun, 0);
      if (failed === NONE || !isOfOneInput(error)) throw error;
      const failure = solvedInput(requests[failed] ?? '', error, (performance.now() - beganAt) * 1_000);
      return [...(await solveAll({ ...jobs, requests: requests.slice(0, failed) }, deadline)), failure];
    }
  };

  const solveAll = async (jobs: EvaluationJobs, deadline: number): Promise<readonly SolvedInput[]> => {
    const solved: SolvedInput[] = [];
    while (solved.length < jobs.requests.length)
      solved.push(...(await solveFirst({ ...jobs, requests: jobs.requests.slice(solved.length) }, deadline)));
    return solved;
  };

  return {
    solve: async ({ request, ...settings }, deadline) => {
      const [solved] = await runRule({ ...settings, requests: [request] }, deadline, undefined);
      if (solved === undefined) throw unread();
      return solved;
    },
    solveFirst,
    runFlow: async (job, deadline) => {
      const { outcome, failure } = await pool.run({ of: 'flow', ...job }, deadline);
      if (outcome !== undefined) return outcome;
      throw failure === undefined ? unread() : fromPlain(failure);
    },
    status: () => pool.status(),
    stop: (drainMs) => pool.stop(drainMs),
  };
};

/** As many inputs as go in one job. */
const firstOf = (requests: readonly string[]): readonly string[] => {
  const most = Math.min(requests.length, MOST_INPUTS);
  let characters = requests[0]?.length ?? 0;
  let count = 1;
  while (count < most && characters + (requests[count]?.length ?? 0) <= MOST_CHARACTERS) {
    characters += requests[count]?.length ?? 0;
    count += 1;
  }
  return requests.slice(0, count);
};

/** What one input brings about: it overruns, or its thread ends, for which its need of memory may be the reason. */
const isOfOneInput = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && (error.code === 'evaluation_failed' || error.code === 'internal_error');

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
