import { type Collections, groupRecords, UnreadableRecord } from '@decision/contexts';
import { type BatchInclude, limits, ServiceError } from '@decision/contracts';
import { type BatchWork, CHUNKS_AT_ONCE, lookUpMembers, withCommits } from '@decision/operations';
import { inOrder, parseJsonLine } from '@decision/service-kit';
import { type ChunkAnswer, type LinesBatch } from './answer-batch';
import { BatchUnderWay } from './batch-under-way';

interface LinesOptions {
  readonly fields: ReadonlySet<BatchInclude>;
  /** Largest line, bytes. */
  readonly lineMaxBytes: number;
  /** Maximum size of the lines of one chunk, bytes. */
  readonly chunkBytes: number;
}

/** Merges records as they arrive, one per line, and runs due rules and flows: chunk by chunk, in memory that the chunks bound (C95). */
export const submitLines = (work: BatchWork, pieces: AsyncIterable<Buffer>, options: LinesOptions): LinesBatch => {
  const batch = new BatchUnderWay(work, options.fields);
  const { cascade, commits } = batch;
  return {
    answers: answerChunks(batch, pieces, options),
    cascaded: () => cascade.cascaded(),
    acknowledge: (results) => {
      for (const { instance_id: id } of results) commits.committed.delete(id);
    },
  };
};

async function* answerChunks(
  batch: BatchUnderWay,
  pieces: AsyncIterable<Buffer>,
  { lineMaxBytes, chunkBytes }: LinesOptions,
): AsyncGenerator<ChunkAnswer, void, undefined> {
  const { cascade, commits } = batch;
  const { context } = batch.work;
  const chunks = chunkLines(pieces, {
    chunkItems: context.chunkSize,
    chunkBytes,
    lineMaxBytes,
  });
  const worker = new ChunkWorker(batch);
  let isWhole = false;
  try {
    yield* inOrder(recordsOf(batch.work, chunks), (chunk) => worker.work(chunk), {
      maxItems: CHUNKS_AT_ONCE,
      maxWeight: CHUNKS_AT_ONCE * chunkBytes,
      weightOf: ({ bytes }) => bytes,
    });
    isWhole = true;
  } catch (error) {
    worker.stop();
    await worker.ended();
    throw error instanceof ServiceError ? withCommits(error, commits) : error;
  } finally {
    // Even if nobody consumes the answers any more.
    worker.stop();
    await worker.ended();
    await (isWhole ? cascade.run() : cascade.runPart());
  }
}

/** A chunk whose lines have been read, with the members of collections that its facts hold. */
interface RecordChunk extends Pick<LineChunk, 'firstPosition' | 'bytes'> {
  readonly records: readonly unknown[];
  readonly collections: Collections;
}

async function* recordsOf(
  { context, definition, origin }: BatchWork,
  chunks: AsyncIterable<LineChunk>,
): AsyncGenerator<RecordChunk, void, undefined> {
  for await (const { firstPosition, bytes, lines } of chunks) {
    const records = lines.map(readLine);
    const collections = await lookUpMembers(context.database, origin, definition, records);
    yield { firstPosition, bytes, records, collections };
  }
}

interface UnderWay {
  readonly ids: ReadonlySet<string>;
  readonly done: Promise<unknown>;
}

const overlap = (some: ReadonlySet<string>, others: ReadonlySet<string>): boolean =>
  [...some].some((id) => others.has(id));

/** Processes several chunks at once, but chunks that name the same instance one after the other. */
class ChunkWorker {
  private readonly underWay = new Set<UnderWay>();
  private isStopped = false;

  constructor(private readonly batch: BatchUnderWay) {}

  /** Chunks must be given in order: each waits for earlier ones that share an instance with it. */
  work({ firstPosition, records, collections }: RecordChunk): Promise<ChunkAnswer> {
    const grouped = groupRecords(this.batch.work.definition.model, records, collections, {
      firstPosition,
      // The chunk already bounds the rejections; the answer may be streamed, and then lists them all.
      rejectionBytes: Infinity,
    });
    const ids = new Set(grouped.instances.map(({ instanceId }) => instanceId));
    const earlier = [...this.underWay].filter((other) => overlap(other.ids, ids)).map(({ done }) => done);
    const answer = Promise.all(earlier).then(() => this.carryOut(grouped, records.length));
    const own = { ids, done: answer.catch(() => undefined) };
    this.underWay.add(own);
    void own.done.then(() => this.underWay.delete(own));
    return answer;
  }

  /** Prevents further chunks from starting. */
  stop(): void {
    this.isStopped = true;
  }

  /** Resolves when no work is running any more. */
  async ended(): Promise<void> {
    await Promise.all([...this.underWay].map(({ done }) => done));
  }

  private async carryOut(
    { instances, rejections, ignored }: ReturnType<typeof groupRecords>,
    records: number,
  ): Promise<ChunkAnswer> {
    const given = this.isStopped ? [] : instances;
    const { results, executed, degraded, failure } = await this.batch.carryOut(given);
    if (failure !== undefined) {
      this.stop();
      throw failure;
    }
    return {
      accepted: records - rejections.length,
      ...{ executed, ignored, rejections, results: [...results.values()], degraded },
    };
  }
}

/** Some records of a batch of lines. */
export interface LineChunk {
  /** Position of the first record in the batch. */
  readonly firstPosition: number;
  /** Lines not yet parsed as JSON. */
  readonly lines: readonly Buffer[];
  readonly bytes: number;
}

interface LineLimits {
  readonly chunkItems: number;
  /** A chunk of this many bytes is complete. */
  readonly chunkBytes: number;
  /** Largest line, bytes. */
  readonly lineMaxBytes: number;
}

const LINE_BREAK = 0x0a;
const WHITE_SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d]);

/**
 * Divides a body of one record per line into chunks, each as soon as it is complete. Blank lines are skipped; the last line needs no line break.
 * A body that breaks off throws before its last, incomplete line is parsed. Throws `payload_too_large` for a line above the limit, and any error
 * of reading the body.
 */
export async function* chunkLines(
  pieces: AsyncIterable<Buffer>,
  lineLimits: LineLimits,
): AsyncGenerator<LineChunk, void, undefined> {
  const cutter = new LineCutter(lineLimits);
  for await (const piece of pieces) yield* cutter.write(piece);
  yield* cutter.end();
}

class LineCutter {
  /** The incomplete current line. */
  private begun: Buffer[] = [];
  private begunBytes = 0;
  private lines: Buffer[] = [];
  private bytes = 0;
  private firstPosition = 0;

  constructor(private readonly lineLimits: LineLimits) {}

  *write(piece: Buffer): Generator<LineChunk, void, undefined> {
    let start = 0;
    for (let end = piece.indexOf(LINE_BREAK); end >= 0; end = piece.indexOf(LINE_BREAK, start)) {
      this.extend(piece.subarray(start, end));
      yield* this.endLine();
      start = end + 1;
    }
    this.extend(piece.subarray(start));
  }

  *end(): Generator<LineChunk, void, undefined> {
    yield* this.endLine();
    if (this.lines.length > 0) yield this.take();
  }

  private extend(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.begun.push(bytes);
    this.begunBytes += bytes.length;
    const { lineMaxBytes } = this.lineLimits;
    if (this.begunBytes > lineMaxBytes) throw lineTooLarge(this.firstPosition + this.lines.length, lineMaxBytes);
  }

  private *endLine(): Generator<LineChunk, void, undefined> {
    const [only] = this.begun;
    const line = only !== undefined && this.begun.length === 1 ? only : Buffer.concat(this.begun, this.begunBytes);
    this.begun = [];
    this.begunBytes = 0;
    if (line.every((byte) => WHITE_SPACE.has(byte))) return;
    this.lines.push(line);
    this.bytes += line.length;
    const { chunkItems, chunkBytes } = this.lineLimits;
    if (this.lines.length >= chunkItems || this.bytes >= chunkBytes) yield this.take();
  }

  private take(): LineChunk {
    const chunk = { firstPosition: this.firstPosition, lines: this.lines, bytes: this.bytes };
    this.firstPosition += this.lines.length;
    this.lines = [];
    this.bytes = 0;
    return chunk;
  }
}

const lineTooLarge = (position: number, limitBytes: number): ServiceError =>
  new ServiceError(
    'payload_too_large',
    `The record at position ${position} is larger than ${limitBytes} bytes, the limit set by ${limits.itemMaxBytes.env}.`,
    { index: position, limit_bytes: limitBytes, limit_name: limits.itemMaxBytes.env },
  );

/** The record of a line, or the reason why there is none. */
export const readLine = (line: Buffer): unknown => {
  try {
    return parseJsonLine(line);
  } catch (error) {
    if (error instanceof ServiceError) return new UnreadableRecord(error.message);
    throw error;
  }
};
