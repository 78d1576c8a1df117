/** A reason not to start, as one sentence that says what to do. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError';
}
