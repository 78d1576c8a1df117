import { type ServerResponse } from 'node:http';
import { type ChunkKind, limits, ServiceError } from '@decision/contracts';
import { type InOrderLimits, type RequestContext, type AdmittedRequest } from '@decision/service-kit';
import { type Evaluate } from '../solve';
import { type Chunk } from './chunk-builder';

/** Most chunks of one request at workers at once. */
export const CHUNKS_AT_ONCE: InOrderLimits<Chunk> = {
  maxItems: 16,
  maxWeight: 16 * limits.chunkBytes.max,
  weightOf: ({ payload }) => payload.length,
};

/** Destination of the results of a request. */
export interface AnswerTarget {
  readonly response: ServerResponse;
  readonly context: Pick<RequestContext, 'signal'>;
  readonly admitted: AdmittedRequest;
}

/** Sends the chunks of one request to workers and counts them. */
export class ChunkSender {
  private sent = 0;
  private solved = 0;

  constructor(
    private readonly evaluate: Evaluate,
    private readonly kind: ChunkKind,
    private readonly memory: ResultMemory,
  ) {}

  /** The bytes of a chunk's results. Throws a `ServiceError` that names the inputs, and for a deadline the known progress. */
  async send(chunk: Chunk): Promise<Buffer> {
    this.sent += chunk.count;
    try {
      const { payload, firstIndex } = chunk;
      const results = await this.memory.evaluate(chunk, () => this.evaluate(this.kind, payload, firstIndex));
      this.solved += chunk.count;
      return results;
    } catch (error) {
      throw this.withInputs(chunk, error);
    }
  }

  private withInputs({ firstIndex, count }: Chunk, error: unknown): unknown {
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

/** Estimate of the size of results before the first ones: the specification's 16 times their input, and 1 KiB for each of many tiny inputs. */
const FIRST_EXPANSION = 16;
const FIRST_BYTES_EACH = 1024;

/**
 * Reserves memory for the results of one request before they arrive: a chunk is sent once there is room for its results, whose size is estimated
 * from the results so far. Results are `kept` until all have arrived, or `passed_on` as the client reads them.
 */
export class ResultMemory {
  /** Most bytes of results per byte of input so far. */
  private expansion: number | undefined;
  /** Number of chunks at workers. */
  private sent = 0;
  /** Bytes of results in memory. */
  private held = 0;
  private turn: Promise<unknown> = Promise.resolve();
  private wake: () => void = () => undefined;

  constructor(
    private readonly admitted: AdmittedRequest,
    private readonly results: 'kept' | 'passed_on',
  ) {}

  /**
   * Evaluates a chunk once there is room for its results. Chunks get room in the order of the calls. Throws `overloaded` if other requests hold
   * the memory, `result_too_large` if the results of this request alone exceed it, and the errors of `evaluate`.
   */
  async evaluate(chunk: Chunk, evaluate: () => Promise<Buffer>): Promise<Buffer> {
    const turn = this.turn.then(() => this.reserve(chunk));
    this.turn = turn.catch(() => undefined);
    const reserved = await turn;
    let results: Buffer | undefined;
    try {
      results = await evaluate();
      this.expansion = Math.max(this.expansion ?? 0, results.length / Math.max(chunk.payload.length, 1));
      return results;
    } finally {
      this.sent -= 1;
      this.held += results?.length ?? 0;
      this.admitted.addAnswerBytes((results?.length ?? 0) - reserved);
      this.admitted.releaseBody(chunk.payload.length);
      this.wake();
    }
  }

  /** The client has read this many bytes of results. */
  passedOn(bytes: number): void {
    this.held -= bytes;
    this.admitted.addAnswerBytes(-bytes);
    this.wake();
  }

  private async reserve(chunk: Chunk): Promise<number> {
    for (;;) {
      const bytes = this.estimate(chunk);
      if (this.admitted.tryHoldAnswer(bytes)) {
        this.sent += 1;
        return bytes;
      }
      if (!this.canGetRoom()) return this.takeOrRefuse(bytes);
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  /** Whether this request can still free memory, or turn out not to need it. */
  private canGetRoom(): boolean {
    return this.sent > 0 || (this.results === 'passed_on' && this.held > 0);
  }

  /** No chunk of this request is at a worker: other requests, or the results that it keeps, hold the missing bytes. */
  private takeOrRefuse(bytes: number): number {
    if (!this.admitted.isAlone()) throw this.admitted.refusal();
    if (this.held + bytes > this.admitted.mostBytes && this.held > 0) throw tooLarge(this.admitted.mostBytes);
    // No other request holds memory, and this one is not refused by the estimate alone.
    this.admitted.addAnswerBytes(bytes);
    this.sent += 1;
    return bytes;
  }

  private estimate({ payload, count }: Chunk): number {
    const bytes =
      this.expansion === undefined
        ? Math.max(payload.length * FIRST_EXPANSION, count * FIRST_BYTES_EACH)
        : payload.length * this.expansion;
    return Math.min(Math.ceil(bytes), limits.executionMessageBytes.max);
  }
}

/** The refusal of results that are kept until all have arrived. */
export const tooLarge = (limitBytes: number): ServiceError =>
  new ServiceError(
    'result_too_large',
    `The results exceed ${limitBytes} bytes together; send fewer inputs at once, or accept application/x-ndjson, which is streamed.`,
    { limit_bytes: limitBytes },
  );
