/** How a service reaches its database. */
export interface DatabaseSettings {
  /** `postgresql://user:password@host:port/name`; the user must be a member of the runtime role. */
  readonly url: string;
  /** Connections at most; default 10. */
  readonly poolMax?: number;
  /** Name of this process in the server's lists of sessions. */
  readonly applicationName: string;
  /** After which the server ends a statement, ms; default 10,000. Waiting for a row lock ends after half of it. */
  readonly statementTimeoutMs?: number;
  /** Whether statements are sent without waiting for the answers to those before them; a copy is refused then. Default false. */
  readonly isPipelined?: boolean;
  /** For opening one connection, ms; default 3,000. */
  readonly connectTimeoutMs?: number;
  /** For waiting until a connection is free, ms; default 5,000. */
  readonly acquireTimeoutMs?: number;
  /** How long closing waits for work that still runs, ms; default 10,000. Then its connections are cut. */
  readonly closeTimeoutMs?: number;
  /** Told how long some work waited for a connection, ms, whether it got one or not. */
  readonly onAcquired?: (waitedMs: number) => void;
}
