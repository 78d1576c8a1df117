import { isUtf8 } from 'node:buffer';
import { chunkInputs, ServiceError } from '@decision/contracts';
import { itemNotUtf8, itemTooLarge, tooManyItems } from './bulk-faults';
import { type Chunk } from './chunk';
import { ChunkBuilder } from './chunk-builder';
import { JsonScanner, type ScanFault } from '../json/json-scanner';
import { type Splitter, type SplitterLimits } from './splitter';

interface ListSplitterLimits extends SplitterLimits {
  /** Levels to which an input may nest. */
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

/** Bytes above ASCII are only looked at here, by the fast path of the runtime. */
const checkUtf8 = (chunk: Chunk): Chunk => {
  if (isUtf8(chunk.payload)) return chunk;
  let index = chunk.firstIndex;
  for (const input of chunkInputs(chunk.payload)) {
    if (!isUtf8(input)) throw itemNotUtf8(index);
    index += 1;
  }
  return chunk;
};
