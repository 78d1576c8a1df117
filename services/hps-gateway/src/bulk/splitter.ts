import { type Chunk } from './chunk';

/** Divides the body of a bulk request, given in pieces, into chunks of whole inputs. The pieces become its own: it writes to them. */
export interface Splitter {
  /** Takes the next piece and returns the chunks that it completes. Throws `ServiceError` for a fault of the body. */
  write(piece: Buffer): readonly Chunk[];
  /** Says that the body has ended and returns what is left. Throws `ServiceError` where it is not complete. */
  end(): readonly Chunk[];
}

export interface SplitterLimits {
  readonly chunkBytes: number;
  readonly chunkItems: number;
  /** Largest single input, bytes. */
  readonly itemMaxBytes: number;
  /** Most inputs; undefined: no bound. */
  readonly bulkMaxItems: number | undefined;
}
