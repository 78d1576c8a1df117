import { type FlowNodeType } from '@decision/contracts';
import { FlowFault, type FlowNotification, type RunningOperation, type Secret } from '@decision/flows';

export type NodeOutputs = Readonly<Record<string, unknown>>;

/** One run of a node, as its connector sees it. */
export interface ConnectorCall {
  readonly type: string;
  /** The path of the node: the subflow nodes around it, then the node. */
  readonly path: readonly string[];
  /** Indexes of the enclosing loops' items, outermost first. */
  readonly indexes: readonly number[];
  /** The fields of the node as the document has them. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** By name; values are JSON or {@link Secret}. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** The secrets among the inputs, at any depth. */
  readonly secrets: readonly Secret[];
  readonly workspaceId: string;
  readonly requestId: string;
  /** Id of the API key that asked; absent if no key did. */
  readonly keyId: string | undefined;
  /** Operations on instances that the flow is part of, the innermost last. */
  readonly within: readonly RunningOperation[];
  /** Epoch ms after which nobody waits for the outputs. */
  readonly deadline: number;
  /** Aborts at the deadline, when the flow no longer needs the outputs, or when the process stops. */
  readonly signal: AbortSignal;
  /** From 1; greater after failed attempts. */
  readonly attempt: number;
  /** The same whenever the same step runs again: in another attempt, in a repeated request, after the death of a worker. 43 characters. */
  readonly idempotencyKey: string;
  /** Accepts notifications that are sent if the run ends without failure. */
  readonly notify?: ((notifications: readonly FlowNotification[]) => void) | undefined;
}

/** One kind of node that reaches out. Deadlines, retries, circuits, concurrency limits, caching and redaction are applied around it. */
export interface Connector {
  readonly type: FlowNodeType;
  /** Time for a node including all its attempts, ms. A node's own `timeoutMs` may shorten it. */
  readonly timeoutMs: number;
  /**
   * The target of the call: a host, or a name. Calls to one target share slots and a circuit. It appears in errors, so it contains no
   * credentials and no query. Absent or undefined: the connector limits its calls itself.
   */
  readonly targetOf?: (call: ConnectorCall) => string | undefined;
  /** Whether a call may be repeated. Without it no call may. */
  readonly isRepeatable?: (call: ConnectorCall) => boolean;
  /** Answers the outputs as JSON. Rejects with a {@link ConnectorFailure}; anything else counts as a fault of this program. */
  readonly run: (call: ConnectorCall) => Promise<NodeOutputs>;
  /** Closes its connections and other resources. */
  readonly stop?: () => Promise<void>;
}

/** The outcome of a call, as metrics count it. */
export type CallOutcome =
  | 'ok'
  | 'cached'
  | 'failed'
  | 'invalid'
  | 'refused'
  | 'timeout'
  | 'circuit_open'
  | 'busy'
  | 'abandoned'
  | 'not_available';

interface FailureOptions {
  /** `invalid`: the node or its inputs; `refused`: by one of our guards or limits; default `failed`. */
  readonly outcome?: CallOutcome;
  /** Whether another attempt may succeed. Default false. */
  readonly mayRetry?: boolean;
  /** Whether it counts against the target: the target did not answer, or is broken. Default: as `mayRetry`. */
  readonly blamesTarget?: boolean;
  /** How long the target asks to be left alone, ms. */
  readonly retryAfterMs?: number | undefined;
  /** Names fields and limits; never values, which may be secret. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * Why a node has no outputs, in one sentence that says what to do. The code is `evaluation_failed` if the node or its inputs are at fault,
 * and `infrastructure_error` otherwise.
 */
export class ConnectorFailure extends FlowFault {
  readonly outcome: CallOutcome;
  readonly mayRetry: boolean;
  readonly blamesTarget: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    private readonly options: FailureOptions = {},
  ) {
    const { outcome = 'failed', mayRetry = false, blamesTarget = mayRetry, retryAfterMs, details = {} } = options;
    super(
      message,
      { reason: outcome, ...details },
      outcome === 'invalid' ? 'evaluation_failed' : 'infrastructure_error',
    );
    this.name = 'ConnectorFailure';
    this.outcome = outcome;
    this.mayRetry = mayRetry;
    this.blamesTarget = blamesTarget;
    this.retryAfterMs = retryAfterMs;
  }

  /** The same failure with another message. It is a new object, since the stack of this one repeats its message. */
  reworded(message: string): ConnectorFailure {
    return message === this.message ? this : new ConnectorFailure(message, this.options);
  }
}
