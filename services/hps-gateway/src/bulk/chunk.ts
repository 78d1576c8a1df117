/** Some inputs of a bulk request, one a line, as they are sent to a worker. */
export interface Chunk {
  /** Index in the request of the first input. */
  readonly firstIndex: number;
  readonly count: number;
  readonly payload: Buffer;
}
