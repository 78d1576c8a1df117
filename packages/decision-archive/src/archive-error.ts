/** Kinds of archive errors. The names label logs: never rename one. */
type ArchiveErrorCode =
  /** The address is not that of an archive, or it cannot be opened. */
  | 'not_opened'
  /** The store failed or did not answer. */
  | 'store_failed'
  /** An object of the archive is not as it should be. */
  | 'damaged_object'
  /** A setting is too small for the existing data. */
  | 'too_small'
  /** The request is invalid. */
  | 'misused'
  /** The engine failed or died. */
  | 'engine_failed'
  /** A request took longer than allowed. */
  | 'too_long'
  /** A question reads more than allowed. */
  | 'too_large'
  /** Too many requests wait already. */
  | 'too_busy';

/** An error of an archive; the message is a sentence for its operator. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';

  constructor(
    readonly code: ArchiveErrorCode,
    message: string,
    options: ErrorOptions = {},
  ) {
    super(message, options);
  }
}
