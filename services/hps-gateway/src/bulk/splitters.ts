import { isUtf8 } from 'node:buffer';
import { chunkInputs, JsonScanner, type ScanFault, ServiceError } from '@decision/contracts';
import { itemNotUtf8, itemTooLarge, tooManyItems } from '../solve-request';
import { type Chunk, ChunkBuilder } from './chunk-builder';

/** Divides the body of a bulk request, given in pieces, into chunks of whole inputs. It takes ownership of the pieces: it writes to them. */
export interface Splitter {
  /** Takes the next piece and returns the chunks that it completes. Throws `ServiceError` for a fault of the body. */
  write(piece: Buffer): readonly Chunk[];
  /** Ends the body and returns the remaining chunks. Throws `ServiceError` if the body is incomplete. */
  end(): readonly Chunk[];
}

interface SplitterLimits {
  readonly chunkBytes: number;
  readonly chunkItems: number;
  /** Largest single input, bytes. */
  readonly itemMaxBytes: number;
  /** Most inputs; undefined: no bound. */
  readonly bulkMaxItems: number | undefined;
}

/** The chunks of a body, each as soon as it is complete. */
export async function* splitBody(
  pieces: AsyncIterable<Buffer>,
  splitter: Splitter,
): AsyncGenerator<Chunk, void, undefined> {
  for await (const piece of pieces) yield* splitter.write(piece);
  yield* splitter.end();
}

const LINE_BREAK = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;

/**
 * Divides a body with one input per line. Blank lines are skipped. The worker checks the content of lines: a line that is not JSON fails in its
 * slot, like any other input that cannot be solved.
 */
export class LineSplitter implements Splitter {
  private readonly builder: ChunkBuilder;
  private lineBytes = 0;

  constructor(private readonly limits: SplitterLimits) {
    this.builder = new ChunkBuilder(limits);
  }

  write(piece: Buffer): readonly Chunk[] {
    const chunks: Chunk[] = [];
    for (let start = 0; start < piece.length;) {
      const found = piece.indexOf(LINE_BREAK, start);
      const end = found < 0 ? piece.length : found;
      this.extend(piece, start, end);
      if (found >= 0) this.endLine(chunks);
      start = end + 1;
    }
    return chunks;
  }

  end(): readonly Chunk[] {
    const chunks: Chunk[] = [];
    this.endLine(chunks);
    const last = this.builder.close();
    return last === undefined ? chunks : [...chunks, last];
  }

  private extend(piece: Buffer, start: number, end: number): void {
    if (this.lineBytes === 0 && isBlank(piece, start, end)) return;
    const { bulkMaxItems, itemMaxBytes } = this.limits;
    if (this.builder.index === bulkMaxItems) throw tooManyItems(bulkMaxItems);
    this.lineBytes += end - start;
    if (this.lineBytes > itemMaxBytes) throw itemTooLarge(this.builder.index, itemMaxBytes);
    this.builder.extend(piece, start, end);
  }

  private endLine(chunks: Chunk[]): void {
    if (this.lineBytes === 0) return;
    this.lineBytes = 0;
    const chunk = this.builder.finishItem();
    if (chunk !== undefined) chunks.push(chunk);
  }
}

const isBlank = (piece: Buffer, start: number, end: number): boolean => {
  for (let at = start; at < end; at += 1) {
    const byte = piece[at];
    if (byte !== SPACE && byte !== TAB && byte !== RETURN) return false;
  }
  return true;
};

interface ListSplitterLimits extends SplitterLimits {
  /** Most levels of nesting of an input. */
  readonly maxDepth: number;
}

/** Divides a JSON list. */
export class ListSplitter implements Splitter {
  private readonly scanner: JsonScanner;
  private readonly builder: ChunkBuilder;
  private received = 0;
  private isOpen = false;

  constructor(private readonly limits: ListSplitterLimits) {
    this.scanner = new JsonScanner('list', limits.maxDepth);
    this.builder = new ChunkBuilder(limits);
  }

  write(piece: Buffer): readonly Chunk[] {
    const chunks: Chunk[] = [];
    let begun = 0;
    for (let at = 0; at < piece.length;) {
      at = this.scanner.scan(piece, at);
      this.checkFault();
      const { event } = this.scanner;
      if (event === undefined) continue;
      if (event === 'item' || event === 'last-item') this.finishItem(piece, begun, at - 1, chunks);
      this.isOpen = event === 'open' || event === 'item';
      begun = at;
    }
    if (this.isOpen && begun < piece.length) this.builder.extend(piece, begun, piece.length);
    this.scanner.endPiece(piece);
    this.received += piece.length;
    if (this.scanner.isInItem) this.checkSize(this.received - this.scanner.itemStart);
    return chunks;
  }

  end(): readonly Chunk[] {
    this.scanner.end();
    this.checkFault();
    const last = this.builder.close();
    return last === undefined ? [] : [checkUtf8(last)];
  }

  private finishItem(piece: Buffer, start: number, end: number, chunks: Chunk[]): void {
    this.checkSize(this.scanner.itemEnd - this.scanner.itemStart);
    const { bulkMaxItems } = this.limits;
    if (this.builder.index === bulkMaxItems) throw tooManyItems(bulkMaxItems);
    const chunk = this.builder.add(piece, start, end);
    if (chunk !== undefined) chunks.push(checkUtf8(chunk));
  }

  private checkSize(bytes: number): void {
    if (bytes > this.limits.itemMaxBytes) throw itemTooLarge(this.builder.index, this.limits.itemMaxBytes);
  }

  private checkFault(): void {
    if (this.scanner.fault !== undefined) throw bodyFault(this.scanner.fault, this.builder.index);
  }
}

const bodyFault = ({ kind, reason, position, line, column }: ScanFault, index: number): ServiceError => {
  const place = { position, line, column };
  const where = `at position ${position} (line ${line}, column ${column})`;
  if (kind === 'syntax') {
    return new ServiceError(
      'invalid_json',
      `The body is not JSON: ${reason} ${where}, in the input at index ${index}.`,
      {
        ...place,
        index,
      },
    );
  }
  const sentence =
    kind === 'too deep'
      ? `The input at index ${index} cannot be read: ${reason} ${where}.`
      : 'The body of a bulk request is a JSON list of inputs; this one is no list.';
  return new ServiceError('invalid_request', sentence, {
    ...(kind === 'too deep' ? { ...place, index } : {}),
    problems: [{ in: 'body', path: kind === 'too deep' ? `/${index}` : '', message: reason }],
  });
};

/** The scanner does not check bytes above ASCII; the runtime checks them here, faster. */
const checkUtf8 = (chunk: Chunk): Chunk => {
  if (isUtf8(chunk.payload)) return chunk;
  let index = chunk.firstIndex;
  for (const input of chunkInputs(chunk.payload)) {
    if (!isUtf8(input)) throw itemNotUtf8(index);
    index += 1;
  }
  return chunk;
};
