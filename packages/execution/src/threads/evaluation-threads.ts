import { type MessagePort, type Worker } from 'node:worker_threads';
import { type ErrorCode, parseJson, ServiceError } from '@decision/contracts';
import { type Audience, evaluateRule, type ExplainMode } from '@decision/engine';
import { type SolvedInput, solvedInput } from '../decisions/decision-log';
import { type RuleLibrary } from '../rule-library';
import { createThreadPool, type ThreadPoolOptions, type ThreadPoolStatus } from './thread-pool';

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

/** Answer of a thread; errors are taken apart, since messages between threads carry no classes. */
interface EvaluationAnswer extends Omit<SolvedInput, 'request' | 'error'> {
  readonly error:
    { readonly code: ErrorCode; readonly message: string; readonly details: ServiceError['details'] } | undefined;
  /** Bytes of all compiled rules that the thread keeps, as they estimate themselves. */
  readonly compiledBytes: number;
}

/** Threads that evaluate what is long, each with compiled rules of its own. */
export interface EvaluationThreads {
  /** `deadline` is epoch ms. Refusals of the pool are errors of the input, as failures of its evaluation are. */
  solve(job: EvaluationJob, deadline: number): Promise<SolvedInput>;
  status(): ThreadPoolStatus;
  stop(drainMs?: number): Promise<void>;
}

export const createEvaluationThreads = (
  options: Omit<ThreadPoolOptions<EvaluationJob, EvaluationAnswer>, 'affinityOf' | 'keptBytesOf'> & {
    readonly start: () => Worker;
  },
): EvaluationThreads => {
  const pool = createThreadPool<EvaluationJob, EvaluationAnswer>({
    ...options,
    affinityOf: ({ versionId }) => versionId,
    keptBytesOf: ({ compiledBytes }) => compiledBytes,
  });
  return {
    solve: async (job, deadline) => {
      const { error, result, matched, durationUs } = await pool.run(job, deadline);
      const failure = error && new ServiceError(error.code, error.message, error.details);
      return { result, matched, durationUs, request: job.request, error: failure };
    },
    status: () => pool.status(),
    stop: (drainMs) => pool.stop(drainMs),
  };
};

/** Answers the jobs that come through a port, one after the other, as the thread's side of {@link createEvaluationThreads}. */
export const answerEvaluations = (port: MessagePort, library: Pick<RuleLibrary, 'get' | 'bytes'>): void => {
  let turn = Promise.resolve();
  port.on('message', (job: EvaluationJob) => {
    turn = turn.then(async () => port.postMessage(await answerJob(library, job)));
  });
};

const answerJob = async (
  library: Pick<RuleLibrary, 'get' | 'bytes'>,
  job: EvaluationJob,
): Promise<EvaluationAnswer> => {
  const { result, error, matched, durationUs } = await solveJob(library, job);
  return { result, matched, durationUs, error: error && pick(error), compiledBytes: library.bytes() };
};

const solveJob = async (library: Pick<RuleLibrary, 'get'>, job: EvaluationJob): Promise<SolvedInput> => {
  const { workspaceId, versionId, request, now, explain, audience } = job;
  try {
    const rule = await library.get(workspaceId, versionId);
    const parsing = parseJson(request);
    if (rule === undefined || !parsing.ok)
      throw new ServiceError('internal_error', 'The job of a thread cannot be read.');
    const input = parsing.value as Readonly<Record<string, unknown>>; // as jobs say
    const beganAt = performance.now();
    const outcome = evaluateRule(rule, input, { now, explain, audience });
    return solvedInput(request, outcome, (performance.now() - beganAt) * 1_000);
  } catch (error) {
    const failure =
      error instanceof ServiceError
        ? error
        : new ServiceError('internal_error', 'The rule could not be loaded.', {}, { cause: error });
    return solvedInput(request, failure, 0);
  }
};

const pick = ({ code, message, details }: ServiceError): EvaluationAnswer['error'] => ({ code, message, details });
