import type { ServerName } from '../stack-options';
import type { ProgramUser } from './run-program';

/** How to run one server; everything that differs between the three. */
export interface ServerRecipe {
  readonly name: ServerName;
  readonly command: string;
  /** Read at each start. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Undefined for the user of this process. */
  readonly user?: ProgramUser | undefined;
  /** Takes both outputs. */
  readonly logFile: string;
  /** Asks for a shutdown in good order that does not wait for clients. */
  readonly stopSignal: NodeJS.Signals;
  /** Done before each start, hence also after a kill. */
  readonly prepare: () => Promise<void>;
  /** One attempt to talk to it; false when it is not ready, never rejects. */
  readonly isReady: () => Promise<boolean>;
  /** Done with each process that is ready, before the start counts as done. Never rejects. */
  readonly onReady?: (pid: number) => Promise<void>;
}
