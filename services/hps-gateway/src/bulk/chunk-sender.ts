import { type ChunkKind, fixedLimits, ServiceError } from '@decision/contracts';
import { type InOrderLimits } from '@decision/service-kit';
import { type Evaluate } from '../solve';
import { type Chunk } from './chunk';

/** Chunks of one request that are at workers at once. */
export const CHUNKS_AT_ONCE: InOrderLimits<Chunk> = {
  maxItems: 16,
  maxWeight: 16 * fixedLimits.chunkBytes,
  weightOf: ({ payload }) => payload.length,
};

/** Sends the chunks of one request to workers and keeps count of them. */
export class ChunkSender {
  private sent = 0;
  private solved = 0;

  constructor(
    private readonly evaluate: Evaluate,
    private readonly kind: ChunkKind,
  ) {}

  /** The bytes of a chunk's results. Throws `ServiceError` that names the inputs, and for a deadline what is known. */
  async send(chunk: Chunk): Promise<Buffer> {
    this.sent += chunk.count;
    try {
      const results = await this.evaluate(this.kind, chunk.payload, chunk.firstIndex);
      this.solved += chunk.count;
      return results;
    } catch (error) {
      throw this.explained(chunk, error);
    }
  }

  private explained({ firstIndex, count }: Chunk, error: unknown): unknown {
    if (!(error instanceof ServiceError)) return error;
    const { code, message, details } = error;
    if (code === 'deadline_exceeded') {
      const known = { solved_count: this.solved, sent_count: this.sent };
      return new ServiceError(code, `${message} ${this.solved} inputs had been solved.`, { ...details, ...known });
    }
    const last = firstIndex + count - 1;
    const inputs = count === 1 ? `index ${firstIndex}` : `indexes ${firstIndex} to ${last}`;
    return new ServiceError(
      code,
      `${message} This concerns the inputs at ${inputs}.`,
      { ...details, index: firstIndex, last_index: last },
      { cause: error },
    );
  }
}
