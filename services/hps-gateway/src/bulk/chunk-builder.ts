/** Some inputs of a bulk request, one per line, in the form sent to a worker. */
export interface Chunk {
  /** Index of the first input in the request. */
  readonly firstIndex: number;
  readonly count: number;
  readonly payload: Buffer;
}

interface ChunkLimits {
  /** Most bytes of input in a chunk; a larger input is a chunk by itself. */
  readonly chunkBytes: number;
  readonly chunkItems: number;
}

/** Consecutive bytes of one piece of the body. */
interface Run {
  readonly piece: Buffer;
  readonly start: number;
  end: number;
  /** Whether it continues the previous input, so that no line break separates them. */
  readonly continues: boolean;
}

const LINE_BREAK = 0x0a;
const FIRST_TARGET_BYTES = 64 * 1024;
/** Number of chunks of one size before the size doubles. */
const CHUNKS_OF_A_SIZE = 4;

/**
 * Gathers inputs into chunks with as little copying as possible: consecutive inputs in one piece of the body stay in place, and the byte between
 * them becomes a line break. The first chunks are small, so that a body of some hundred KiB already keeps several workers busy and the first
 * results arrive early; later ones grow up to `chunkBytes`.
 */
export class ChunkBuilder {
  private runs: Run[] = [];
  private bytes = 0;
  private count = 0;
  private firstIndex = 0;
  private current: Run[] = [];
  private currentBytes = 0;
  private chunks = 0;
  private targetBytes: number;

  constructor(private readonly limits: ChunkLimits) {
    this.targetBytes = Math.min(FIRST_TARGET_BYTES, limits.chunkBytes);
  }

  /** Index of the current input: the number of inputs before it. */
  get index(): number {
    return this.firstIndex + this.count;
  }

  /** Adds bytes to the current input. */
  extend(piece: Buffer, start: number, end: number): void {
    this.current.push({ piece, start, end, continues: this.current.length > 0 });
    this.currentBytes += end - start;
  }

  /** Adds a whole input within one piece, the usual case: `extend` and `finishItem` in one, without allocations. */
  add(piece: Buffer, start: number, end: number): Chunk | undefined {
    if (this.current.length > 0 || this.isFull(end - start)) {
      this.extend(piece, start, end);
      return this.finishItem();
    }
    const last = this.runs.at(-1);
    if (last?.piece === piece && last.end + 1 === start) {
      piece[last.end] = LINE_BREAK;
      last.end = end;
    } else this.runs.push({ piece, start, end, continues: false });
    this.bytes += end - start + 1;
    this.count += 1;
    return undefined;
  }

  /** Completes the current input. If it does not fit into the current chunk, returns that chunk. */
  finishItem(): Chunk | undefined {
    const closed = this.isFull(this.currentBytes) ? this.close() : undefined;
    const [first, ...rest] = this.current;
    if (first !== undefined) this.append(first);
    this.runs.push(...rest);
    this.bytes += this.currentBytes + 1;
    this.count += 1;
    this.current = [];
    this.currentBytes = 0;
    return closed;
  }

  /** The chunk of the gathered inputs; undefined if there are none. */
  close(): Chunk | undefined {
    if (this.count === 0) return undefined;
    const chunk = { firstIndex: this.firstIndex, count: this.count, payload: join(this.runs) };
    this.firstIndex += this.count;
    this.runs = [];
    this.bytes = 0;
    this.count = 0;
    this.chunks += 1;
    if (this.chunks % CHUNKS_OF_A_SIZE === 0) this.targetBytes = Math.min(this.targetBytes * 2, this.limits.chunkBytes);
    return chunk;
  }

  /** Whether an input of the given number of bytes must start the next chunk. */
  private isFull(bytes: number): boolean {
    return this.count > 0 && (this.count >= this.limits.chunkItems || this.bytes + bytes > this.targetBytes);
  }

  private append(run: Run): void {
    const last = this.runs.at(-1);
    if (last?.piece === run.piece && last.end + 1 === run.start) {
      run.piece[last.end] = LINE_BREAK;
      last.end = run.end;
    } else this.runs.push(run);
  }
}

const join = (runs: readonly Run[]): Buffer => {
  const [only] = runs;
  if (only !== undefined && runs.length === 1) return only.piece.subarray(only.start, only.end);
  const size = runs.reduce((sum, { start, end, continues }) => sum + end - start + (continues ? 0 : 1), 0);
  const joined = Buffer.allocUnsafe(Math.max(size - 1, 0));
  let at = 0;
  for (const [index, { piece, start, end, continues }] of runs.entries()) {
    if (index > 0 && !continues) {
      joined[at] = LINE_BREAK;
      at += 1;
    }
    at += piece.copy(joined, at, start, end);
  }
  return joined;
};
