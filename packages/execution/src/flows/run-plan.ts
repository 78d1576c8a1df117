import { ServiceError } from '@decision/contracts';
import { type CallFor, evaluateFlow, type FlowOutcome, type FlowPlan, type FlowRun } from '@decision/flows';
import { type Turns } from './turns';

/** One evaluation of a flow. */
export interface FlowEvaluation extends FlowRun {
  readonly input: Readonly<Record<string, unknown>>;
  /** Epoch ms: the one clock of the request. */
  readonly now: number;
  /** Whether the outcome says what became of each node. */
  readonly trace: boolean;
}

/** What runs of flows share. */
export interface PlanTools {
  readonly turns: Turns;
  /** Asks the outside; undefined: nodes that reach out fail. */
  readonly callFor: CallFor | undefined;
  /** Steps of one run at most. */
  readonly maxSteps: number;
}

/**
 * Runs a compiled flow in this thread, in slices between which the process does its other work. Rejects with `deadline_exceeded` once nobody
 * waits for the answer any more; calls that are under way are aborted then.
 */
export const runPlan = async (plan: FlowPlan, run: FlowEvaluation, tools: PlanTools): Promise<FlowOutcome> => {
  const { input, now, trace, deadline } = run;
  const { turns, callFor, maxSteps } = tools;
  const end = new AbortController();
  const options = {
    now,
    maxSteps,
    signal: end.signal,
    mayGoOn: turns.mayGoOn,
    pause: async () => {
      await turns.pause();
      if (Date.now() >= deadline) end.abort(tooLate());
    },
    ...(trace ? { trace: { clock: () => performance.now() } } : {}),
    ...(callFor === undefined ? {} : { call: callFor(run) }),
  };
  const timer = plan.reachesOut ? setTimeout(() => end.abort(tooLate()), deadline - Date.now()) : undefined;
  try {
    return await evaluateFlow(plan, input, options);
  } finally {
    clearTimeout(timer);
  }
};

const tooLate = (): ServiceError =>
  new ServiceError('deadline_exceeded', 'The deadline of the request passed while its flow ran.');
