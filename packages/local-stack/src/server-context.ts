import type { SecureListeners } from './broker/secure-listeners';
import type { BrokerAccess, ServerName, StackStep } from './stack-options';

/** What the code that prepares one server is given. */
export interface ServerContext {
  readonly server: ServerName;
  /** The stack's directory, absolute. */
  readonly directory: string;
  /** Absolute; made when absent. */
  readonly downloads: string;
  readonly durable: boolean;
  readonly port: number;
  /** Of the broker alone: the account that its clients need. */
  readonly login?: BrokerAccess | undefined;
  /** Of the broker alone, where they are asked for. */
  readonly secure?: SecureListeners | undefined;
  /** Aborted when another server failed or the stack is stopped while it starts. */
  readonly signal: AbortSignal;
  readonly say: (step: StackStep, message: string) => void;
}
