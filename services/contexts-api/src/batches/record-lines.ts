import { UnreadableRecord } from '@decision/contexts';
import { limits, ServiceError } from '@decision/contracts';
import { parseJsonLine } from '@decision/service-kit';

/** Some records of a batch of lines. */
export interface LineChunk {
  /** Position in the batch of the first. */
  readonly firstPosition: number;
  /** Not yet read as JSON. */
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
 * Divides a body of one record a line into chunks, each as soon as it is complete. Blank lines are passed over; the last line need not end. A body
 * that breaks off throws before its last, half line is looked at. Throws `payload_too_large` for a line above the limit, and what reading throws.
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
  /** The line that has begun. */
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

/** The record of a line, or why there is none. */
export const readLine = (line: Buffer): unknown => {
  try {
    return parseJsonLine(line);
  } catch (error) {
    if (error instanceof ServiceError) return new UnreadableRecord(error.message);
    throw error;
  }
};
