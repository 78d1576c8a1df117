/** The servers that a stack can run. */
export type ServerName = 'database' | 'cache' | 'broker';

export const SERVER_NAMES: readonly ServerName[] = ['database', 'cache', 'broker'];

/** Every server that this package can run: those of a stack, and the object store, which tests start beside it. */
export type AnyServerName = ServerName | 'objects';

/** Steps of a server's start and stop, in order. */
export type StackStep = 'fetch' | 'install' | 'start' | 'wait' | 'ready' | 'stop';

/** One line of progress for a person who waits. */
export interface StackProgress {
  readonly server: AnyServerName;
  readonly step: StackStep;
  /** One short sentence without the server's name. */
  readonly message: string;
  /** Milliseconds since the stack began to start, or, for `stop`, since it began to stop. */
  readonly elapsedMs: number;
}

/** An account of the broker. Letters, digits and dashes only. */
export interface BrokerAccess {
  readonly username: string;
  readonly password: string;
}

/** Addresses of the broker besides its open one, each `127.0.0.1:PORT`. */
export interface SecureBrokers {
  /** The certificate, PEM: its own authority, made for `localhost`. */
  readonly certificate: string;
  readonly tls: string;
  /** Also requires a client certificate (`ssl.client.auth=required`). */
  readonly mutualTls: string;
  /** A certificate of a client that {@link mutualTls} accepts, and its key, PEM. */
  readonly client: { readonly cert: string; readonly key: string };
  /** Requires an account: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, or OAUTHBEARER with an unsigned token. */
  readonly sasl: string;
  readonly saslTls: string;
}

export interface StackOptions {
  /** Directory of the data, e.g. `.local/data`; survives restarts. Created when absent. */
  readonly directory: string;
  /** Directory of fetched binaries, shared by all stacks of a checkout, e.g. `.local/downloads`. */
  readonly downloads: string;
  /** Addresses that replace an embedded server. */
  readonly external?: {
    readonly databaseUrl?: string | undefined;
    readonly cacheUrl?: string | undefined;
    readonly mqBrokers?: string | undefined;
  };
  /** Fixed ports; absent: a free one below the ephemeral range. */
  readonly ports?: {
    readonly database?: number | undefined;
    readonly cache?: number | undefined;
    readonly broker?: number | undefined;
  };
  /** Which servers; default all three. A server that is neither here nor external has an empty address. */
  readonly servers?: readonly ServerName[];
  /** Gives an embedded broker, when its data is first made, listeners with TLS and accounts besides the open one. For tests. */
  readonly brokerAccess?: BrokerAccess;
  /**
   * Whether clients of an embedded broker have to log in, with an account that is made once and kept beside the data; see
   * {@link RunningStack.brokerLogin}. Default false: anybody on this machine may connect. The other servers always ask for a password.
   */
  readonly isBrokerLocked?: boolean;
  /** Whether a server that ends by itself is started again, on its port and with its data, with a growing pause. Default false. */
  readonly restarts?: boolean;
  /** Aborts a start that is under way, and later refuses `controls.*.start()`; only `stop()` ends running servers. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (event: StackProgress) => void;
  /**
   * Whether data must survive a crash of the machine; default true. False is faster, for tests: acknowledged data survives the death of the
   * server's process, but not of the operating system, and the cache saves nothing.
   */
  readonly durable?: boolean;
}

/** Faults for tests, on one server of a private stack. */
export interface ServerControl {
  /** Sends the signal (default SIGKILL, to the server and all its processes) and resolves when the server is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port with the same data, and resolves when it answers. Does nothing if it runs. */
  start(): Promise<void>;
  /** Freezes every process of the server, and resolves when none of them runs: connections stay open and nothing answers. */
  pause(): Promise<void>;
  resume(): void;
  /** Undefined while it does not run. */
  pid(): number | undefined;
}

export interface RunningStack {
  /** `postgres://decision:...@127.0.0.1:PORT/decision`, as superuser. */
  readonly databaseUrl: string;
  /** `redis://:PASSWORD@127.0.0.1:PORT`. */
  readonly cacheUrl: string;
  /** `127.0.0.1:PORT`. */
  readonly mqBrokers: string;
  /** Login of clients of the embedded broker, by SCRAM-SHA-256; undefined unless `isBrokerLocked`. */
  readonly brokerLogin: BrokerAccess | undefined;
  /** Undefined unless `brokerAccess` was given. */
  readonly secureBrokers: SecureBrokers | undefined;
  /** Current processes, without external servers. */
  readonly processes: readonly { readonly name: string; readonly pid: number }[];
  /** Stops every server within 8 s; servers that have not ended by then are killed. Idempotent. */
  stop(): Promise<void>;
  /** Undefined for a server that this stack does not run. */
  readonly controls: Readonly<Record<ServerName, ServerControl | undefined>>;
}

type StackErrorCode =
  /** A fixed port is taken. */
  | 'port_in_use'
  /** Another living process runs the servers of this directory. */
  | 'directory_in_use'
  /** A required program is missing on this machine, or is too old. */
  | 'missing_program'
  /** This platform has no binaries, or its users and directories do not allow it. */
  | 'unsupported'
  /** Binaries could not be fetched. */
  | 'fetch_failed'
  /** A server ended, or did not answer in time, while it started. */
  | 'start_failed'
  /** The start was aborted because another server failed. */
  | 'aborted'
  /** There is no stack: the tests were started without their servers. */
  | 'no_test_stack';

/** Why the servers do not run. The message is one or two sentences that name the cause and the remedy. */
export class StackError extends Error {
  override readonly name = 'StackError';

  constructor(
    readonly code: StackErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
