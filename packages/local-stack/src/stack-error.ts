type StackErrorCode =
  /** A fixed port is taken. */
  | 'port_in_use'
  /** Another living process runs the servers of this directory. */
  | 'directory_in_use'
  /** A program that must be on this machine is not, or is too old. */
  | 'missing_program'
  /** This platform has no binaries, or its users and directories do not allow it. */
  | 'unsupported'
  /** Binaries could not be fetched. */
  | 'fetch_failed'
  /** A server ended, or did not answer in time, while it started. */
  | 'start_failed'
  /** The start was given up because another server failed. */
  | 'aborted'
  /** There is no stack to find: the tests were started without their servers. */
  | 'no_test_stack';

/** Why the servers do not run. The message is one or two sentences that name the thing and the way out. */
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
