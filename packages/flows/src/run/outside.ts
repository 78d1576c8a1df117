import { type OutsideNode } from '../plan';

/** A message that a node asks for. It is sent only once its run has ended without failure and it is stored. */
export interface FlowNotification {
  /** The same whenever the same step runs again. At most 100 characters. */
  readonly id: string;
  readonly channel: 'webhook' | 'email' | 'slack';
  /** All that is sent, as JSON text. */
  readonly content: string;
}

/** What a node asks of the outside. */
export interface OutsideCall {
  readonly node: OutsideNode;
  /** The node, behind the subflow nodes around it. */
  readonly path: readonly string[];
  readonly indexes: readonly number[];
  /** What vaults gave is a `Secret`. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Aborted when the flow no longer needs the answer. */
  readonly signal: AbortSignal;
  /** Called by the port where the answer comes from a cache; the trace then says so. */
  readonly onCached?: () => void;
  /** Called by the port with what is to be sent if the run ends without failure. */
  readonly onNotifications?: (notifications: readonly FlowNotification[]) => void;
}

/** Answers a node that reaches out; a rejection is a failure of the node. */
export type CallOutside = (call: OutsideCall) => Promise<Readonly<Record<string, unknown>>>;

/** The outputs of a subflow that are kept for a while, or would be. */
export interface KeptOutputs {
  /** Undefined where none are kept; a rejection counts as that. */
  read(): Promise<Readonly<Record<string, unknown>> | undefined>;
  /** Keeps them; where that fails, the next run has none. */
  write(outputs: Readonly<Record<string, unknown>>): void;
}

/** Finds where the outputs of a subflow node with `useCache` are kept. */
export type KeepOutputs = (call: Pick<OutsideCall, 'node' | 'inputs'>) => KeptOutputs | undefined;

/** The run of a flow that its calls belong to. The same run, begun again, makes the same calls. */
export interface FlowRun {
  readonly workspaceId: string;
  /** The published version of the flow. */
  readonly versionId: string;
  /** Epoch ms after which nobody waits for the answer. */
  readonly deadline: number;
  /** Tells runs apart, and stays when one is begun again: part of the idempotency key of each call. */
  readonly idempotencyRoot: string;
  /** How often the flow succeeded before for its instance; 0 where it belongs to no context. */
  readonly round: number;
  readonly requestId: string;
  /** Id of the API key that asked, for decision logs and usage; absent where no key did. */
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
  /** Keys (`flow:<slug>`) of the flows that are active for it now. */
  readonly activeFlows: ReadonlySet<string>;
  /** The state as it is now, derived facts included. */
  read(): Readonly<Record<string, unknown>>;
  /**
   * Merges facts into the operation, as a submission would: checked the same way; rules and flows that become due run in its next round. Throws an Error with
   * a sentence where they do not fit.
   */
  join(facts: Readonly<Record<string, unknown>>): void;
}

/** Makes the port of one run. */
export type CallFor = (run: FlowRun) => CallOutside;
