import { type Readable } from 'node:stream';

/** A stream's bytes, one piece at a time, read only when they are asked for. */
export class PieceReader {
  private readonly pieces: Buffer[] = [];
  private ended = false;
  private failure: Error | undefined;
  private wake: () => void = () => undefined;

  constructor(private readonly stream: Readable) {
    stream.on('data', this.onData).on('end', this.onEnd).on('error', this.fail).on('close', this.onClose).pause();
  }

  /** The next piece; undefined at the end. Rejects with the stream's error, or with what {@link fail} was given. One call at a time. */
  async next(): Promise<Buffer | undefined> {
    while (this.pieces.length === 0 && !this.ended && this.failure === undefined) {
      const woken = new Promise<void>((resolve) => (this.wake = resolve));
      this.stream.resume();
      await woken;
    }
    if (this.failure !== undefined) throw this.failure;
    return this.pieces.shift();
  }

  /** Ends the reading with an error, now if it is waiting. */
  readonly fail = (error: Error): void => {
    this.failure ??= error;
    this.wake();
  };

  /** Lets go of the stream, which is left paused. */
  close(): void {
    this.stream.off('data', this.onData).off('end', this.onEnd).off('error', this.fail).off('close', this.onClose);
  }

  private readonly onData = (piece: Buffer): void => {
    this.pieces.push(piece);
    this.stream.pause();
    this.wake();
  };

  private readonly onEnd = (): void => {
    this.ended = true;
    this.wake();
  };

  private readonly onClose = (): void => {
    if (!this.ended) this.fail(new Error('The stream was closed before its end.'));
  };
}
