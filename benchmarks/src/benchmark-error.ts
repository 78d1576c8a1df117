/** A benchmark without a result: its subjects failed, or gave different answers. */
export class BenchmarkError extends Error {
  override readonly name = 'BenchmarkError';
}
