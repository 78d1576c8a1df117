import { itemTooLarge, tooManyItems } from './bulk-faults';
import { type Chunk } from './chunk';
import { ChunkBuilder } from './chunk-builder';
import { type Splitter, type SplitterLimits } from './splitter';

const LINE_BREAK = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;

/**
 * Divides a body of one input a line. Blank lines are passed over. What a line holds is left to the worker: a line that is not JSON
 * fails in its slot, as any other input that cannot be solved.
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
