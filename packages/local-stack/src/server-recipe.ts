import type { ProgramUser } from './process/run-program';
import type { SecureListeners } from './servers/broker-configuration';
import type { AnyServerName, BrokerAccess, StackStep } from './stack-options';

/** The inputs of the code that prepares one server. */
export interface ServerContext {
  readonly server: AnyServerName;
  /** The stack's directory, absolute. */
  readonly directory: string;
  /** Absolute; made when absent. */
  readonly downloads: string;
  readonly durable: boolean;
  readonly port: number;
  /** The account that clients of the broker need; only for the broker. */
  readonly login?: BrokerAccess | undefined;
  /** Secure listeners, if requested; only for the broker. */
  readonly secure?: SecureListeners | undefined;
  /** Aborted when another server fails or the stack is stopped during its start. */
  readonly signal: AbortSignal;
  readonly say: (step: StackStep, message: string) => void;
}

/** How to run one server: everything that differs between servers. */
export interface ServerRecipe {
  readonly name: AnyServerName;
  readonly command: string;
  /** Read at each start. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Undefined for the user of this process. */
  readonly user?: ProgramUser | undefined;
  /** Receives standard output and standard error. */
  readonly logFile: string;
  /** Asks for an orderly shutdown that does not wait for clients. */
  readonly stopSignal: NodeJS.Signals;
  /** Runs before each start, hence also after a kill. */
  readonly prepare: () => Promise<void>;
  /** Probes the server once; false if it is not ready. Never rejects. */
  readonly isReady: () => Promise<boolean>;
  /** Runs for each process that has become ready, before its start completes. Never rejects. */
  readonly onReady?: (pid: number) => Promise<void>;
}
