import { type IncomingMessage } from 'node:http';
import { type Readable, type Transform } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { limits, ServiceError } from '@decision/contracts';
import { bodyTooLarge, type ContentCoding, contentCodingOf, declaredBytes } from './read-body';

interface BodyPiecesOptions {
  /** Largest body in bytes, before and after decompression. */
  readonly limitBytes: number;
  /** Epoch ms by which the whole body must have arrived. */
  readonly deadline: number;
  /** How long the client may send nothing while a piece is awaited, ms; time in which no piece is awaited does not count. */
  readonly stalledMs: number;
  /** Aborted, with its reason, when the client goes away. */
  readonly signal: AbortSignal;
  /** Called after each piece with the size so far, decompressed; an error that it throws ends the reading. */
  readonly onSize?: (bytes: number) => void;
}

const PIECE_BYTES = 64 * 1024;
const UNPACKERS: Readonly<Record<Exclude<ContentCoding, 'identity'>, () => Transform>> = {
  gzip: () => createGunzip({ chunkSize: PIECE_BYTES }),
  deflate: () => createInflate({ chunkSize: PIECE_BYTES }),
  br: () => createBrotliDecompress({ chunkSize: PIECE_BYTES }),
};

/**
 * The body of a request in pieces, decompressed, read only as fast as they are taken. Throws `payload_too_large` as soon as the limit is
 * exceeded, `unsupported_media_type` for an unknown encoding, `invalid_request` for damaged data, `deadline_exceeded` for a body that takes
 * too long, and the reason of the signal. Unread parts stay with the request.
 */
export async function* readPieces(
  request: IncomingMessage,
  options: BodyPiecesOptions,
): AsyncGenerator<Buffer, void, undefined> {
  const { limitBytes, onSize } = options;
  const coding = contentCodingOf(request.headers['content-encoding']);
  if (declaredBytes(request) > limitBytes) throw bodyTooLarge(limitBytes, limits.httpBodyBytes.env);
  const stream = openStream(request, coding);
  const reader = new PieceReader(stream);
  const release = interrupt(reader, options);
  let size = 0;
  try {
    const next = (): Promise<Buffer | undefined> => nextWithin(reader, options.stalledMs);
    for (let piece = await next(); piece !== undefined; piece = await next()) {
      size += piece.length;
      if (size > limitBytes) throw bodyTooLarge(limitBytes, limits.httpBodyBytes.env);
      onSize?.(size);
      yield piece;
    }
  } catch (error) {
    // The response notices a lost connection a moment after the request does.
    if (request.destroyed && !request.complete) await nextTurn();
    throw readable(error, coding, options.signal);
  } finally {
    release();
    reader.close();
    if (stream !== request) closeUnpacker(request, stream);
    // The rest of the body is discarded; otherwise the connection would stall before the answer is read.
    request.on('error', () => undefined).resume();
  }
}

const nextWithin = async (reader: PieceReader, stalledMs: number): Promise<Buffer | undefined> => {
  const timer = setTimeout(() => reader.fail(stalled(stalledMs)), stalledMs);
  try {
    return await reader.next();
  } finally {
    clearTimeout(timer);
  }
};

/** Damaged data must not end the request itself: the client must still be answered on its connection. */
const openStream = (request: IncomingMessage, coding: ContentCoding): Readable => {
  if (coding === 'identity') return request;
  const unpacker = UNPACKERS[coding]();
  request.once('close', () => {
    if (!request.complete) unpacker.destroy();
  });
  return request.pipe(unpacker);
};

const closeUnpacker = (request: IncomingMessage, unpacker: Readable): void => {
  request.unpipe();
  unpacker.on('error', () => undefined).destroy();
};

/** Ends the reading at the deadline and when the client goes away; returns a function that cancels this. */
const interrupt = (reader: PieceReader, { deadline, signal }: BodyPiecesOptions): (() => void) => {
  const onAbort = (): void => reader.fail(reasonOf(signal));
  const timer = setTimeout(() => reader.fail(tooSlow()), Math.max(deadline - Date.now(), 0));
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  return () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  };
};

const reasonOf = (signal: AbortSignal): Error =>
  signal.reason instanceof Error ? signal.reason : new ServiceError('invalid_request', 'The request was cut off.');

/** An error of the decompression is a fault of the data, unless the client went away. */
const readable = (error: unknown, coding: ContentCoding, signal: AbortSignal): unknown => {
  if (signal.aborted) return reasonOf(signal);
  if (error instanceof ServiceError || coding === 'identity') return error;
  return new ServiceError(
    'invalid_request',
    `The body is not valid ${coding} data, as its content encoding says.`,
    {},
    { cause: error },
  );
};

const stalled = (stalledMs: number): ServiceError =>
  new ServiceError('invalid_request', `Nothing of the body arrived for ${stalledMs} ms.`, { timeout_ms: stalledMs });

const tooSlow = (): ServiceError =>
  new ServiceError('deadline_exceeded', 'The body had not arrived when the deadline of the request passed.');

/** A stream's bytes, one piece at a time, read only when they are asked for. */
class PieceReader {
  private readonly pieces: Buffer[] = [];
  private ended = false;
  private failure: Error | undefined;
  private wake: () => void = () => undefined;

  constructor(private readonly stream: Readable) {
    stream.on('data', this.onData).on('end', this.onEnd).on('error', this.fail).on('close', this.onClose).pause();
  }

  /** The next piece; undefined at the end. Rejects with the stream's error, or with that of {@link fail}. One call at a time. */
  async next(): Promise<Buffer | undefined> {
    while (this.pieces.length === 0 && !this.ended && this.failure === undefined) {
      const woken = new Promise<void>((resolve) => (this.wake = resolve));
      this.stream.resume();
      await woken;
    }
    if (this.failure !== undefined) throw this.failure;
    return this.pieces.shift();
  }

  /** Ends the reading with an error, at once if it is waiting. */
  readonly fail = (error: Error): void => {
    this.failure ??= error;
    this.wake();
  };

  /** Detaches from the stream, which stays paused. */
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
