/** A run that cannot say anything: the service did not start, or refused what the run needs. */
export class HistoryError extends Error {
  override readonly name = 'HistoryError';
}
