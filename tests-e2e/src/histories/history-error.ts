/** A run without a result: the service did not start, or refused a request that the run needs. */
export class HistoryError extends Error {
  override readonly name = 'HistoryError';
}
