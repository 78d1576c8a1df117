/** What went wrong with an archive; names label logs: never rename one. */
type ArchiveErrorCode =
  /** Its address is no archive, or cannot be opened. */
  | 'not_opened'
  /** The store did not do, or did not answer, what it was asked. */
  | 'store_failed'
  /** An object of it is not what it should be. */
  | 'damaged_object'
  /** A setting is too small for what is there. */
  | 'too_small'
  /** What was asked for cannot be done. */
  | 'misused'
  /** The engine failed or died. */
  | 'engine_failed'
  /** A request took longer than one may. */
  | 'too_long'
  /** A question reads more than one may. */
  | 'too_large'
  /** Too many requests wait already. */
  | 'too_busy';

/** Something went wrong with an archive; the message is a sentence for its operator. */
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
