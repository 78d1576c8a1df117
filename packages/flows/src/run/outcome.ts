import { type RuleOutcome } from '@decision/engine';
import { type CompiledRuleAsset } from '../assets';
import { type CallOutside, type FlowNotification, type KeepOutputs } from './outside';
import { type TraceEntry } from './trace';

/** Why a flow could not be answered. */
export interface FlowFailure {
  /** `evaluation_failed`: the input or a value does not fit. `infrastructure_error`: what a node asked did not answer. */
  readonly code: 'evaluation_failed' | 'infrastructure_error';
  /** A sentence that names the node. */
  readonly message: string;
  /** The node that failed, behind the subflow nodes around it. */
  readonly path: readonly string[];
  /** Indexes of the items around it, from the outermost loop on. */
  readonly indexes: readonly number[];
  readonly details: Readonly<Record<string, unknown>>;
  /** Whether the origin refused the input of the flow itself. */
  readonly ofInput: boolean;
}

export type FlowOutcome = FlowEnd & {
  /** Where a trace was asked for. */
  readonly trace?: { readonly entries: readonly TraceEntry[]; readonly not_listed: number };
  /** Steps that the run took. */
  readonly steps: number;
};

/** How a run ended. */
export type FlowEnd =
  | {
      readonly ok: true;
      readonly output: Readonly<Record<string, unknown>>;
      /** What its nodes ask to be sent, in the order of evaluation; undefined where that is nothing. */
      readonly notifications?: readonly FlowNotification[] | undefined;
    }
  | { readonly ok: false; readonly error: FlowFailure };

/** Evaluates a rule with an input; `now` is epoch ms. What it throws, or rejects with, is a failure of the node. */
export type EvaluateAsset = (
  rule: CompiledRuleAsset,
  input: Readonly<Record<string, unknown>>,
  now: number,
) => RuleOutcome | Promise<RuleOutcome>;

export interface RunOptions {
  /** Epoch ms: the one clock of the request. */
  readonly now: number;
  /** Answers the nodes that reach out; a rejection is a failure of the node. Without it, a flow that reaches out fails there. */
  readonly call?: CallOutside;
  /** Keeps the outputs of subflows whose nodes say `useCache`. Without it, they run every time. */
  readonly keep?: KeepOutputs;
  /** Evaluates a rule; later only in plans that were compiled with `rulesAnswerLater`. Default: in this thread, at once. */
  readonly evaluate?: EvaluateAsset;
  /** Ends the evaluation: its calls are aborted, and the promise of the outcome rejects with the reason. */
  readonly signal?: AbortSignal;
  /** Whether to record what became of each node, and the clock of its durations in ms. */
  readonly trace?: { readonly clock: () => number };
  /** Asked after every hundred steps or items, and after every few rules; false lets others run before it goes on. */
  readonly mayGoOn?: () => boolean;
  /** Waits until the evaluation may go on. Needed with `mayGoOn`. */
  readonly pause?: () => Promise<void>;
  /** Steps at most. Default 1,000,000. */
  readonly maxSteps?: number;
  /** Items of one loop at most that wait for answers at once. Default 8. */
  readonly parallelItems?: number;
}

/**
 * A fault of a flow with its code. Thrown inside of an evaluation, which never throws it on; a call that rejects with one decides the code of
 * the failure.
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
