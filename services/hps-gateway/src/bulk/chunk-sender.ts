import { type ServerResponse } from 'node:http';
import { type ChunkKind, fixedLimits, ServiceError } from '@decision/contracts';
import { type InOrderLimits, type RequestContext, type RequestPlace } from '@decision/service-kit';
import { type Evaluate } from '../solve';
import { type Chunk } from './chunk';
import { type ResultMemory } from './result-memory';

/** Chunks of one request that are at workers at once. */
export const CHUNKS_AT_ONCE: InOrderLimits<Chunk> = {
  maxItems: 16,
  maxWeight: 16 * fixedLimits.chunkBytes,
  weightOf: ({ payload }) => payload.length,
};

/** Receiver of the results of a request. */
export interface Answering {
  readonly response: ServerResponse;
  readonly context: Pick<RequestContext, 'signal'>;
  readonly place: RequestPlace;
}

/** Sends the chunks of one request to workers and keeps count of them. */
export class ChunkSender {
  private sent = 0;
  private solved = 0;

  constructor(
    private readonly evaluate: Evaluate,
    private readonly kind: ChunkKind,
    private readonly memory: ResultMemory,
  ) {}

  /** The bytes of a chunk's results. Throws `ServiceError` that names the inputs, and for a deadline what is known. */
  async send(chunk: Chunk): Promise<Buffer> {
    this.sent += chunk.count;
    try {
      const { payload, firstIndex } = chunk;
      const results = await this.memory.evaluate(chunk, () => this.evaluate(this.kind, payload, firstIndex));
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
