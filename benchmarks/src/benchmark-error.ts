/** A benchmark that cannot say anything: what it compares did not work, or not alike. */
export class BenchmarkError extends Error {
  override readonly name = 'BenchmarkError';
}
