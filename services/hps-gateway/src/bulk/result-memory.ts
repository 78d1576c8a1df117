import { fixedLimits, ServiceError } from '@decision/contracts';
import { type RequestPlace } from '@decision/service-kit';
import { type Chunk } from './chunk';

/** Estimate of results before the first are there: the specification's 16 times their input, and 1 KiB for each of many tiny inputs. */
const FIRST_EXPANSION = 16;
const FIRST_BYTES_EACH = 1024;

/**
 * Counts the results of one request into the memory of those in flight, before they are there: a chunk is sent once there is room for what
 * its results will need, as the results so far tell. Results are `kept` until all are there, or `passed_on` as the client takes them.
 */
export class ResultMemory {
  /** Largest bytes of results for one byte of input so far. */
  private expansion: number | undefined;
  /** Chunks at workers. */
  private sent = 0;
  /** Bytes of results that are here. */
  private held = 0;
  private turn: Promise<unknown> = Promise.resolve();
  private wake: () => void = () => undefined;

  constructor(
    private readonly place: RequestPlace,
    private readonly results: 'kept' | 'passed_on',
  ) {}

  /**
   * Has a chunk evaluated once there is room for its results. Chunks get room in the order of the calls. Throws `overloaded` where others
   * hold the memory, `result_too_large` where the results of this request alone exceed it, and what `evaluate` throws.
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
      this.place.addAnswer((results?.length ?? 0) - reserved);
      this.place.bodyDone(chunk.payload.length);
      this.wake();
    }
  }

  /** The client has taken this many bytes of results. */
  passedOn(bytes: number): void {
    this.held -= bytes;
    this.place.addAnswer(-bytes);
    this.wake();
  }

  private async reserve(chunk: Chunk): Promise<number> {
    for (;;) {
      const bytes = this.estimate(chunk);
      if (this.place.tryAnswer(bytes)) {
        this.sent += 1;
        return bytes;
      }
      if (!this.hasMoreToCome()) return this.withoutRoom(bytes);
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  /** Whether memory of this very request becomes free, or turns out not to be needed. */
  private hasMoreToCome(): boolean {
    return this.sent > 0 || (this.results === 'passed_on' && this.held > 0);
  }

  /** Nothing of this request is under way: what is missing is held by others, or by the results that it keeps. */
  private withoutRoom(bytes: number): number {
    if (!this.place.isAlone()) throw this.place.refusal();
    if (this.held + bytes > this.place.mostBytes && this.held > 0) throw tooLarge(this.place.mostBytes);
    // Alone, with nothing but an estimate against it.
    this.place.addAnswer(bytes);
    this.sent += 1;
    return bytes;
  }

  private estimate({ payload, count }: Chunk): number {
    const bytes =
      this.expansion === undefined
        ? Math.max(payload.length * FIRST_EXPANSION, count * FIRST_BYTES_EACH)
        : payload.length * this.expansion;
    return Math.min(Math.ceil(bytes), fixedLimits.executionMessageBytes);
  }
}

/** The refusal of results that are kept until all are there. */
export const tooLarge = (limitBytes: number): ServiceError =>
  new ServiceError(
    'result_too_large',
    `The results exceed ${limitBytes} bytes together; send fewer inputs at once, or accept application/x-ndjson, which is streamed.`,
    { limit_bytes: limitBytes },
  );
