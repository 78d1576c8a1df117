/** Default of the time limit of a statement, ms. */
export const STATEMENT_TIMEOUT_MS = 10_000;

/** Connection settings of a service for its database. */
export interface DatabaseSettings {
  /** `postgresql://user:password@host:port/name`; the user must be a member of the runtime role. */
  readonly url: string;
  /** Largest number of connections; default 10. */
  readonly poolMax?: number;
  /** Name of this process in the server's lists of sessions. */
  readonly applicationName: string;
  /** Time limit at which the server ends a statement, ms; default 10,000. Waiting for a row lock ends after half of it. */
  readonly statementTimeoutMs?: number;
  /** Whether statements are sent without waiting for earlier answers; copies are then refused. Default false. */
  readonly isPipelined?: boolean;
  /**
   * Whether the database keeps one plan of a prepared statement, by indexes, for any values and any size of its tables (ADR 88). Otherwise it
   * plans for the values at hand as long as that seems cheaper, which for a list of one id it always does. Default false.
   */
  readonly keepsPlans?: boolean;
  /** Time limit for opening one connection, ms; default 3,000. */
  readonly connectTimeoutMs?: number;
  /** Time limit for waiting for a free connection, ms; default 5,000. */
  readonly acquireTimeoutMs?: number;
  /** How long closing waits for running work, ms; default 10,000. Then its connections are cut. */
  readonly closeTimeoutMs?: number;
  /** Called with the time that some work waited for a connection, ms, whether it got one or not. */
  readonly onAcquired?: (waitedMs: number) => void;
}
