import type { SecureListeners } from './broker/secure-listeners';
import type { BrokerAccess, ServerName, StackStep } from './stack-options';

/** Context of the code that prepares one server. */
export interface ServerContext {
  readonly server: ServerName;
  /** The stack's directory, absolute. */
  readonly directory: string;
  /** Absolute; made when absent. */
  readonly downloads: string;
  readonly durable: boolean;
  readonly port: number;
  /** The account that clients of the broker need; for the broker alone. */
  readonly login?: BrokerAccess | undefined;
  /** Secure listeners, if they are asked for; for the broker alone. */
  readonly secure?: SecureListeners | undefined;
  /** Aborted when another server failed or the stack is stopped while it starts. */
  readonly signal: AbortSignal;
  readonly say: (step: StackStep, message: string) => void;
}
