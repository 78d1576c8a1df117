import { type FlowSettings, ServiceError } from '@decision/contracts';
import { evaluateBriefly, evaluateRule, type RuleOutcome } from '@decision/engine';
import {
  type CallFor,
  type CallOutside,
  type CompiledRuleAsset,
  type EvaluateAsset,
  type FlowFailure,
  type FlowOutcome,
  type FlowPlan,
  type FlowRun,
  type KeepOutputs,
} from '@decision/flows';
import { type FlowLibrary, type FollowedVersions, type StoredFlow } from './flow-library';
import { type FlowEvaluation, runPlan } from './run-plan';
import { createTurns } from './turns';

/** A flow that does not reach out and is too long for the thread that handles messages. */
export interface FlowJob {
  readonly workspaceId: string;
  readonly versionId: string;
  /** The input: JSON text of an object. */
  readonly request: string;
  /** Epoch ms: the clock of the request. */
  readonly now: number;
  /** Whether the outcome includes a trace of the nodes. */
  readonly trace: boolean;
  /** Steps at most. */
  readonly maxSteps: number;
  readonly follows: FollowedVersions | undefined;
}

type RuleJob = Pick<FlowJob, 'workspaceId' | 'versionId' | 'request' | 'now'> & { readonly explain: 'none' };

/** Threads for long evaluations; `deadline` is epoch ms. They reject if there is no outcome. */
export interface FlowThreads {
  runFlow(job: FlowJob, deadline: number): Promise<FlowOutcome>;
  /** Answers the outputs as JSON text. */
  solve(
    job: RuleJob,
    deadline: number,
  ): Promise<{
    readonly result: string;
    readonly matched: readonly number[];
    readonly error: ServiceError | undefined;
  }>;
}

interface FlowRunnerOptions {
  readonly library: Pick<FlowLibrary, 'get'>;
  /** Threads for long evaluations; undefined: everything is evaluated in this thread. */
  readonly threads: FlowThreads | undefined;
  /** Runs nodes that reach out; undefined: they fail. */
  readonly callFor: CallFor | undefined;
  /** Caches the outputs of subflows that say `useCache`; without it they run every time. */
  readonly keepFor?: (run: FlowRun) => KeepOutputs;
  /** Maximum steps of one run. */
  readonly maxSteps: number;
  /** Runs that may wait for external answers at once; more are refused with `overloaded`. */
  readonly maxWaiting: number;
}

interface RanFlow {
  readonly outcome: FlowOutcome;
  readonly settings: FlowSettings;
}

/** Runs published flows with their current dependencies. */
export interface FlowRunner {
  /**
   * Rejects if the run has no outcome: with `version_not_found`, `deadline_exceeded`, `overloaded`, or the error of a thread or the
   * database. `onWaiting` is called once, when the run first waits for something outside this thread.
   */
  run(evaluation: FlowEvaluation, onWaiting?: () => void): Promise<RanFlow>;
  /** A flow that runs many times with its current dependencies. Throws `version_not_found`. */
  open(workspaceId: string, versionId: string): Promise<OpenedFlow>;
  /** Unfinished runs that wait, or have waited, for external answers. */
  waiting(): number;
}

/** A flow with its dependencies at opening. */
export interface OpenedFlow extends Pick<StoredFlow, 'reachesOut' | 'settings'> {
  /** As {@link FlowRunner.run}. */
  run(evaluation: FlowEvaluation, onWaiting?: () => void): Promise<FlowOutcome>;
}

const NOBODY = (): void => undefined;

export const createFlowRunner = (options: FlowRunnerOptions): FlowRunner => {
  const { library, threads, callFor, keepFor, maxSteps, maxWaiting } = options;
  const turns = createTurns();
  let waiting = 0;

  const runReachingOut = async (
    plan: FlowPlan,
    evaluation: FlowEvaluation,
    onWaiting: () => void,
  ): Promise<FlowOutcome> => {
    const end = new AbortController();
    let waits = false;
    /** False if too many other runs wait. */
    const mayWait = (): boolean => {
      if (waits) return true;
      if (waiting >= maxWaiting) {
        end.abort(tooManyWaiting(maxWaiting));
        return false;
      }
      waits = true;
      waiting += 1;
      onWaiting();
      return true;
    };
    const port = callFor?.(evaluation);
    const call: CallOutside | undefined = port && ((asked) => (mayWait() ? port(asked) : ended()));
    const keepOf = keepFor?.(evaluation);
    const keep: KeepOutputs = (asked) => {
      const kept = keepOf?.(asked);
      return kept && { ...kept, read: () => (mayWait() ? kept.read() : ended()) };
    };
    const evaluate: EvaluateAsset = (rule, input, now) => {
      const outcome = evaluateHere(rule, input, now, threads !== undefined);
      if (outcome !== undefined) return outcome;
      if (threads === undefined || !mayWait()) return ended();
      return ruleInThread(threads, rule, input, evaluation).catch((error: unknown) => {
        end.abort(error);
        return ended();
      });
    };
    try {
      return await runPlan(plan, evaluation, { turns, maxSteps, call, keep, evaluate }, end);
    } finally {
      if (waits) waiting -= 1;
    }
  };

  const runInThread = (evaluation: FlowEvaluation, onWaiting: () => void): Promise<FlowOutcome> => {
    if (threads === undefined) throw new ServiceError('internal_error', 'There is no thread for long flows.');
    const { workspaceId, versionId, input, now, trace, follows, deadline } = evaluation;
    onWaiting();
    const job = { workspaceId, versionId, request: JSON.stringify(input), now, trace, maxSteps, follows };
    return threads.runFlow(job, deadline);
  };

  /** A flow that does not reach out can be restarted in a thread with the same answer. */
  const runPure = async (plan: FlowPlan, evaluation: FlowEvaluation, onWaiting: () => void): Promise<FlowOutcome> => {
    if (threads === undefined) return runPlan(plan, evaluation, { turns, maxSteps });
    let isLong = false;
    const evaluate: EvaluateAsset = (rule, input, now) => {
      const outcome = evaluateHere(rule, input, now, true);
      if (outcome !== undefined) return outcome;
      isLong = true;
      throw new ServiceError('internal_error', 'The rule is too long for this thread.');
    };
    const outcome = await runPlan(plan, evaluation, { turns, maxSteps, evaluate });
    return isLong ? runInThread(evaluation, onWaiting) : outcome;
  };

  const runOpened = async (
    { plan, fault, reachesOut, follows }: StoredFlow,
    evaluation: FlowEvaluation,
    onWaiting: () => void = NOBODY,
  ): Promise<FlowOutcome> => {
    if (fault !== undefined) return notFitting(fault);
    const told = { ...evaluation, follows: { ...follows, ...evaluation.follows } };
    if (plan === undefined) return runInThread(told, onWaiting);
    return reachesOut ? runReachingOut(plan, told, onWaiting) : runPure(plan, told, onWaiting);
  };

  return {
    run: async (evaluation, onWaiting) => {
      const flow = await library.get(evaluation.workspaceId, evaluation.versionId, evaluation.follows);
      return { outcome: await runOpened(flow, evaluation, onWaiting), settings: flow.settings };
    },
    open: async (workspaceId, versionId) => {
      const flow = await library.get(workspaceId, versionId);
      const { reachesOut, settings } = flow;
      return { reachesOut, settings, run: (evaluation, onWaiting) => runOpened(flow, evaluation, onWaiting) };
    },
    waiting: () => waiting,
  };
};

/** Undefined if it is too long for this thread. */
const evaluateHere = (
  { rule }: CompiledRuleAsset,
  input: Readonly<Record<string, unknown>>,
  now: number,
  hasThreads: boolean,
): RuleOutcome | undefined => rule && (hasThreads ? evaluateBriefly : evaluateRule)(rule, input, { now });

/** The run has been ended: nobody waits for this. */
const ended = (): Promise<never> => new Promise<never>(() => undefined);

const ruleInThread = async (
  threads: Pick<FlowThreads, 'solve'>,
  { versionId = '' }: CompiledRuleAsset,
  input: Readonly<Record<string, unknown>>,
  { workspaceId, now, deadline }: FlowEvaluation,
): Promise<RuleOutcome> => {
  const job = { workspaceId, versionId, request: JSON.stringify(input), now, explain: 'none' } as const;
  const { error, result, matched } = await threads.solve(job, deadline);
  if (error === undefined) return { ok: true, output: JSON.parse(result) as Record<string, unknown>, matched }; // outputs are an object
  if (error.code !== 'evaluation_failed') throw error;
  return { ok: false, error: { code: error.code, message: error.message, details: error.details } };
};

/** The outcome of a flow that does not compile with its current rules: a run-time failure, not one of the input. */
export const notFitting = (fault: NonNullable<StoredFlow['fault']>): FlowOutcome => {
  const { problems } = fault.details as {
    readonly problems?: readonly { readonly ref?: string; readonly message: string }[];
  };
  const [first] = problems ?? [];
  const error: FlowFailure = {
    code: 'evaluation_failed',
    message: `The flow no longer fits the rules that it runs now: ${first?.message ?? fault.message}`,
    path: first?.ref === undefined ? [] : [first.ref],
    indexes: [],
    details: { reason: 'flow_does_not_fit' },
    ofInput: false,
  };
  return { ok: false, error, steps: 0 };
};

const tooManyWaiting = (limit: number): ServiceError =>
  new ServiceError(
    'overloaded',
    `${limit} flows wait for other systems already, which is the limit of this process; try again later.`,
    { limit },
  );
