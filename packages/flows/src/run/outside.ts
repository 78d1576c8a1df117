import { type OutsideNode } from '../plan';

/** A message that a node requests. It is sent only after its run has ended without failure and it has been stored. */
export interface FlowNotification {
  /** The same whenever the same step runs again. At most 100 characters. */
  readonly id: string;
  readonly channel: 'webhook' | 'email' | 'slack';
  /** The content as JSON text. */
  readonly content: string;
}

/** A call of a node that reaches out. */
export interface OutsideCall {
  readonly node: OutsideNode;
  /** Path of the node: the enclosing subflow nodes, then the node. */
  readonly path: readonly string[];
  readonly indexes: readonly number[];
  /** Values from vaults are `Secret`s. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Aborted when the flow no longer needs the answer. */
  readonly signal: AbortSignal;
  /** Called by the port if the answer comes from a cache; the trace then says so. */
  readonly onCached?: () => void;
  /** Called by the port with a notification to send if the run ends without failure. */
  readonly onNotifications?: (notifications: readonly FlowNotification[]) => void;
}

/** Runs a node that reaches out; a rejection is a failure of the node. */
export type CallOutside = (call: OutsideCall) => Promise<Readonly<Record<string, unknown>>>;

/** Cache entry for the outputs of a subflow. */
export interface KeptOutputs {
  /** Undefined if none are cached; a rejection counts as undefined. */
  read(): Promise<Readonly<Record<string, unknown>> | undefined>;
  /** Stores them; if that fails, the next run finds none. */
  write(outputs: Readonly<Record<string, unknown>>): void;
}

/** Finds the cache entry for the outputs of a subflow node with `useCache`. */
export type KeepOutputs = (call: Pick<OutsideCall, 'node' | 'inputs'>) => KeptOutputs | undefined;

/** The run that calls belong to. The same run, when repeated, makes the same calls. */
export interface FlowRun {
  readonly workspaceId: string;
  /** The published version of the flow. */
  readonly versionId: string;
  /** Epoch ms after which nobody waits for the answer. */
  readonly deadline: number;
  /** Identifies the run, and is the same when it is repeated: part of the idempotency key of each call. */
  readonly idempotencyRoot: string;
  /** Number of earlier successes of the flow for its instance; 0 without a context. */
  readonly round: number;
  readonly requestId: string;
  /** Id of the API key that asked, for decision logs and usage; absent if no key did. */
  readonly keyId?: string | undefined;
  /** Operations on instances that this run is part of, the innermost last. Default: none, the flow is solved directly. */
  readonly within?: readonly RunningOperation[];
}

/** An operation that runs a flow for one instance. */
export interface RunningOperation {
  readonly operationId: string;
  readonly contextId: string;
  readonly contextSlug: string;
  readonly instanceId: string;
  /** Keys (`flow:<slug>`) of the flows that are currently active for it. */
  readonly activeFlows: ReadonlySet<string>;
  /** The current state, including derived facts. */
  read(): Readonly<Record<string, unknown>>;
  /**
   * Merges facts into the operation, as a submission would: with the same checks; rules and flows that become due run in its next round.
   * Throws an Error with a sentence if they do not fit.
   */
  join(facts: Readonly<Record<string, unknown>>): void;
}

/** Makes the port of one run. */
export type CallFor = (run: FlowRun) => CallOutside;
