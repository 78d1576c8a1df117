import { type IncomingMessage } from 'node:http';
import { type Readable, type Transform } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { limits, ServiceError } from '@decision/contracts';
import { PieceReader } from './piece-reader';

export interface BodyOptions {
  /** Largest body in bytes, before and after decompression. */
  readonly limitBytes: number;
  /** Epoch ms by which the whole body must be there. */
  readonly deadline: number;
  /** Aborted, with its reason, when the client goes away. */
  readonly signal: AbortSignal;
  /** Told of the size so far after each piece, decompressed; what it throws ends the reading. */
  readonly onSize?: (bytes: number) => void;
}

type Coding = 'gzip' | 'x-gzip' | 'deflate' | 'br';

const PIECE_BYTES = 64 * 1024;
const UNPACKERS: Readonly<Record<Coding, () => Transform>> = {
  gzip: () => createGunzip({ chunkSize: PIECE_BYTES }),
  'x-gzip': () => createGunzip({ chunkSize: PIECE_BYTES }),
  deflate: () => createInflate({ chunkSize: PIECE_BYTES }),
  br: () => createBrotliDecompress({ chunkSize: PIECE_BYTES }),
};

/**
 * The body of a request in pieces, decompressed, read only as fast as they are taken. Throws `payload_too_large` as soon as the limit is
 * passed, `unsupported_media_type` for an unknown encoding, `invalid_request` for damaged data, `deadline_exceeded` for a body that
 * takes too long, and the reason of the signal. What is not read stays with the request.
 */
export async function* readPieces(
  request: IncomingMessage,
  options: BodyOptions,
): AsyncGenerator<Buffer, void, undefined> {
  const { limitBytes, onSize } = options;
  const coding = codingOf(request.headers['content-encoding']);
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw bodyTooLarge(limitBytes);
  const stream = openStream(request, coding);
  const reader = new PieceReader(stream);
  const release = interrupt(reader, options);
  let size = 0;
  try {
    for (let piece = await reader.next(); piece !== undefined; piece = await reader.next()) {
      size += piece.length;
      if (size > limitBytes) throw bodyTooLarge(limitBytes);
      onSize?.(size);
      yield piece;
    }
  } catch (error) {
    // The response learns of a lost connection a moment after the request does.
    if (request.destroyed && !request.complete) await nextTurn();
    throw readable(error, coding, options.signal);
  } finally {
    release();
    reader.close();
    if (stream !== request) closeUnpacker(request, stream);
    // What still arrives is thrown away, else the connection would stall before the answer is read.
    request.on('error', () => undefined).resume();
  }
}

const codingOf = (header: string | undefined): Coding | undefined => {
  const name = header?.trim().toLowerCase() ?? 'identity';
  if (name === 'identity') return undefined;
  if (Object.hasOwn(UNPACKERS, name)) return name as Coding; // a key of the table
  throw new ServiceError(
    'unsupported_media_type',
    `The content encoding ${JSON.stringify(header?.slice(0, 100))} is not accepted; send gzip, deflate, br or none.`,
  );
};

/** Damaged data must not end the request itself: the client is still to be answered on its connection. */
const openStream = (request: IncomingMessage, coding: Coding | undefined): Readable => {
  if (coding === undefined) return request;
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

/** Ends the reading at the deadline and when the client goes away; returns what undoes this. */
const interrupt = (reader: PieceReader, { deadline, signal }: BodyOptions): (() => void) => {
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

/** What the unpacker throws is a fault of the data, unless the client went away. */
const readable = (error: unknown, coding: Coding | undefined, signal: AbortSignal): unknown => {
  if (signal.aborted) return reasonOf(signal);
  if (error instanceof ServiceError || coding === undefined) return error;
  return new ServiceError(
    'invalid_request',
    `The body is not valid ${coding} data, as its content encoding says.`,
    {},
    { cause: error },
  );
};

const bodyTooLarge = (limitBytes: number): ServiceError =>
  new ServiceError(
    'payload_too_large',
    `The body is larger than ${limitBytes} bytes, the limit set by ${limits.httpBodyBytes.env}.`,
    { limit_bytes: limitBytes, limit_name: limits.httpBodyBytes.env },
  );

const tooSlow = (): ServiceError =>
  new ServiceError('deadline_exceeded', 'The body had not arrived when the deadline of the request passed.');
