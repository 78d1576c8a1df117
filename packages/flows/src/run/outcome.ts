import { evaluateRule, type RuleOutcome } from '@decision/engine';
import { type CompiledRuleAsset } from '../assets';
import { type CallOutside, type FlowNotification, type KeepOutputs } from './outside';
import { type TraceEntry } from './trace';

/** Why a flow could not be answered. */
export interface FlowFailure {
  /** `evaluation_failed`: the input or a value does not fit. `infrastructure_error`: the target of a node did not answer. */
  readonly code: 'evaluation_failed' | 'infrastructure_error';
  /** A sentence that names the node. */
  readonly message: string;
  /** Path of the failed node: the enclosing subflow nodes, then the node. */
  readonly path: readonly string[];
  /** Indexes of the enclosing items, outermost loop first. */
  readonly indexes: readonly number[];
  readonly details: Readonly<Record<string, unknown>>;
  /** Whether the origin refused the input of the flow itself. */
  readonly ofInput: boolean;
}

export type FlowOutcome = FlowEnd & {
  /** Present if a trace was requested. */
  readonly trace?: { readonly entries: readonly TraceEntry[]; readonly not_listed: number };
  /** Number of steps that the run took. */
  readonly steps: number;
};

/** How a run ended. */
export type FlowEnd =
  | {
      readonly ok: true;
      readonly output: Readonly<Record<string, unknown>>;
      /** Notifications of its nodes, in evaluation order; undefined if there are none. */
      readonly notifications?: readonly FlowNotification[] | undefined;
    }
  | { readonly ok: false; readonly error: FlowFailure };

/** Evaluates a rule with an input; `now` is epoch ms. An error or a rejection is a failure of the node. */
export type EvaluateAsset = (
  rule: CompiledRuleAsset,
  input: Readonly<Record<string, unknown>>,
  now: number,
) => RuleOutcome | Promise<RuleOutcome>;

export interface RunOptions {
  /** Epoch ms: the one clock of the request. */
  readonly now: number;
  /** Runs the nodes that reach out; a rejection is a failure of the node. Without it, a flow that reaches out fails there. */
  readonly call?: CallOutside;
  /** Caches the outputs of subflows whose nodes say `useCache`. Without it, they run every time. */
  readonly keep?: KeepOutputs;
  /** Evaluates a rule; may answer later only for plans compiled with `rulesAnswerLater`. Default: at once, in this thread. */
  readonly evaluate?: EvaluateAsset;
  /** Ends the evaluation: its calls are aborted, and the promise of the outcome rejects with the reason. */
  readonly signal?: AbortSignal;
  /** Whether to record a trace of the nodes, and the clock of its durations in ms. */
  readonly trace?: { readonly clock: () => number };
  /** Called after every hundred steps or items, and after every few rules; false makes the evaluation yield. */
  readonly mayGoOn?: () => boolean;
  /** Waits until the evaluation may continue. Required with `mayGoOn`. */
  readonly pause?: () => Promise<void>;
  /** Maximum number of steps. Default 1,000,000. */
  readonly maxSteps?: number;
  /** Maximum items of one loop that wait for answers at once. Default 8. */
  readonly parallelItems?: number;
}

/**
 * A fault of a flow with its code. Thrown inside an evaluation, which turns it into its outcome; a call that rejects with one decides the
 * code of the failure.
 */
export class FlowFault extends Error {
  constructor(
    message: string,
    readonly details: Readonly<Record<string, unknown>> = {},
    readonly code: FlowFailure['code'] = 'evaluation_failed',
  ) {
    super(message);
  }
}

/** Evaluates a rule that is compiled in this thread. */
export const evaluateHere: EvaluateAsset = ({ rule, slug }, input, now) => {
  if (rule !== undefined) return evaluateRule(rule, input, { now });
  throw new FlowFault(`The rule "${slug}" is not compiled in this thread.`, {}, 'infrastructure_error');
};
