import { ServiceError } from '@decision/contracts';
import {
  type CallOutside,
  type EvaluateAsset,
  evaluateFlow,
  type FlowOutcome,
  type FlowPlan,
  type FlowRun,
  type KeepOutputs,
} from '@decision/flows';
import { type FollowedVersions } from './flow-library';
import { type Turns } from './turns';

/** One evaluation of a flow. */
export interface FlowEvaluation extends FlowRun {
  readonly input: Readonly<Record<string, unknown>>;
  /** Epoch ms: the one clock of the request. */
  readonly now: number;
  /** Whether the outcome includes a trace of the nodes. */
  readonly trace: boolean;
  /** Versions of rules that were fixed before; others are resolved now. */
  readonly follows?: FollowedVersions;
}

interface PlanTools {
  readonly turns: Turns;
  /** Maximum steps of one run. */
  readonly maxSteps: number;
  /** Runs nodes that reach out; undefined: they fail. */
  readonly call?: CallOutside | undefined;
  /** As in the options of an evaluation. */
  readonly keep?: KeepOutputs | undefined;
  readonly evaluate?: EvaluateAsset | undefined;
}

/**
 * Runs a compiled flow in this thread, in slices between which the process does its other work. Rejects with `deadline_exceeded` once
 * nobody waits for the answer, or with the reason of `end`; running calls are then aborted.
 */
export const runPlan = async (
  plan: FlowPlan,
  { input, now, trace, deadline }: Pick<FlowEvaluation, 'input' | 'now' | 'trace' | 'deadline'>,
  { turns, maxSteps, call, keep, evaluate }: PlanTools,
  end = new AbortController(),
): Promise<FlowOutcome> => {
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
    ...(call === undefined ? {} : { call }),
    ...(keep === undefined ? {} : { keep }),
    ...(evaluate === undefined ? {} : { evaluate }),
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
