import { type IncomingMessage } from 'node:http';
import { type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { limits, ServiceError } from '@decision/contracts';

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
  const interruption = interrupt(options);
  const iterator: AsyncIterator<Buffer> = stream.iterator({ destroyOnReturn: false });
  let size = 0;
  try {
    for (;;) {
      const step = await Promise.race([iterator.next(), interruption.promise]);
      if (step.done === true) return;
      size += step.value.length;
      if (size > limitBytes) throw bodyTooLarge(limitBytes);
      onSize?.(size);
      yield step.value;
    }
  } catch (error) {
    throw options.signal.aborted ? reasonOf(options.signal) : readable(error, coding);
  } finally {
    interruption.release();
    if (stream !== request) closeUnpacker(request, stream);
    // Not awaited: it waits for a piece that may never come.
    iterator.return?.().catch(() => undefined);
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

interface Interruption {
  readonly promise: Promise<never>;
  release(): void;
}

const interrupt = ({ deadline, signal }: BodyOptions): Interruption => {
  let release: () => void = () => undefined;
  const promise = new Promise<never>((_resolve, reject) => {
    const onAbort = (): void => reject(reasonOf(signal));
    const timer = setTimeout(() => reject(tooSlow()), Math.max(deadline - Date.now(), 0));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    release = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
  });
  promise.catch(() => undefined); // it may come after the last piece
  return { promise, release };
};

const reasonOf = (signal: AbortSignal): Error =>
  signal.reason instanceof Error ? signal.reason : new ServiceError('invalid_request', 'The request was cut off.');

/** What the unpacker throws is a fault of the data. */
const readable = (error: unknown, coding: Coding | undefined): unknown => {
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
