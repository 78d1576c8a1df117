import { type IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import { ServiceError } from '@decision/contracts';
import { ClientGone } from '../failure';

export interface ReadBodyOptions {
  /** Largest body, before and after decompression, in bytes. */
  readonly limitBytes: number;
  /** The setting that holds the limit, for the sentence to the client; absent if it is that of the call. */
  readonly limitName?: string | undefined;
  /** How long the client may take, in ms. Default 60,000. */
  readonly timeoutMs?: number;
  /** Aborts the reading with its reason. */
  readonly signal?: AbortSignal;
  /** Called with the size so far, packed and then unpacked; an error that it throws ends the reading. */
  readonly onSize?: ((bytes: number) => void) | undefined;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const EMPTY = Buffer.alloc(0);

/**
 * Reads the whole body as bytes, decompressed. Throws `payload_too_large` as soon as the limit is known to be exceeded,
 * `unsupported_media_type` for an unknown content encoding, `invalid_request` for damaged data and for a body that is too slow, and {@link
 * ClientGone} if the client went away.
 */
export const readBody = async (request: IncomingMessage, options: ReadBodyOptions): Promise<Buffer> => {
  const coding = contentCodingOf(request.headers['content-encoding']);
  const { limitBytes, limitName } = options;
  const tooLarge = (): ServiceError => bodyTooLarge(limitBytes, limitName);
  if (declaredBytes(request) > limitBytes) throw tooLarge();
  if (!hasBody(request)) return EMPTY;
  const raw = await collect(request, options, tooLarge);
  const body = await unpack(raw, coding, limitBytes, tooLarge);
  if (body !== raw) options.onSize?.(raw.length + body.length);
  return body;
};

/** Whether the request announces a body at all. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** The announced size in bytes; NaN if none is announced. */
export const declaredBytes = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? NaN);

/** The refusal of a body above the limit, also used before any of it is read. */
export const bodyTooLarge = (limitBytes: number, limitName: string | undefined): ServiceError =>
  new ServiceError(
    'payload_too_large',
    `The body is larger than ${limitBytes} bytes, the limit ${limitName === undefined ? 'of this call' : `set by ${limitName}`}.`,
    { limit_bytes: limitBytes, ...(limitName === undefined ? {} : { limit_name: limitName }) },
  );

const collect = (request: IncomingMessage, options: ReadBodyOptions, tooLarge: () => Error): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const { limitBytes, timeoutMs = DEFAULT_TIMEOUT_MS, signal, onSize } = options;
    const chunks: Buffer[] = [];
    let size = 0;
    const release = (): void => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      signal?.removeEventListener('abort', onAbort);
    };
    const fail = (error: Error): void => {
      release();
      // The rest of the body is discarded; otherwise the connection would stall before the answer is read.
      request.on('error', ignore).resume();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limitBytes) return fail(tooLarge());
      try {
        onSize?.(size);
      } catch (error) {
        return fail(error as Error); // `onSize` throws `ServiceError`
      }
      chunks.push(chunk);
    };
    const onEnd = (): void => {
      release();
      const [only] = chunks;
      resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size));
    };
    const onClose = (): void => fail(new ClientGone());
    const onAbort = (): void => fail(reasonOf(signal));
    const timer = setTimeout(() => fail(bodyTooSlow(timeoutMs)), timeoutMs);
    if (signal?.aborted === true) return onAbort();
    if (request.destroyed) return onClose();
    signal?.addEventListener('abort', onAbort, { once: true });
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });

const ignore = (): void => undefined;

const reasonOf = (signal: AbortSignal | undefined): Error =>
  signal?.reason instanceof Error ? signal.reason : new ClientGone();

/** The refusal of a body that has not arrived in time. */
export const bodyTooSlow = (timeoutMs: number): ServiceError =>
  new ServiceError('invalid_request', `The body did not arrive within ${timeoutMs} ms.`, { timeout_ms: timeoutMs });

/** The content coding of a body. */
export type ContentCoding = 'identity' | 'gzip' | 'deflate' | 'br';

const CODINGS: Readonly<Record<string, ContentCoding>> = {
  identity: 'identity',
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  br: 'br',
};

/** The coding that the header names. Throws `unsupported_media_type` for an unknown one and for several at once. */
export const contentCodingOf = (header: string | undefined): ContentCoding => {
  if (header === undefined) return 'identity';
  const name = header.trim().toLowerCase();
  const coding = Object.hasOwn(CODINGS, name) ? CODINGS[name] : undefined;
  if (coding !== undefined) return coding;
  const shown = JSON.stringify(header.slice(0, 100));
  throw new ServiceError(
    'unsupported_media_type',
    `The content encoding ${shown} is not accepted; send gzip, deflate, br or none.`,
  );
};

type Unpack = (packed: Buffer, options: ZlibOptions) => Promise<Buffer>;

const UNPACK: Readonly<Record<Exclude<ContentCoding, 'identity'>, Unpack>> = {
  gzip: promisify<Buffer, ZlibOptions, Buffer>(gunzip),
  deflate: promisify<Buffer, ZlibOptions, Buffer>(inflate),
  br: promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress),
};

const CHUNK_BYTES = 64 * 1024;

/**
 * Decompresses a body. Stops at the limit: a decompression bomb costs no more than `limitBytes` of memory. Throws the error of `tooLarge`
 * beyond the limit and `invalid_request` for data that is not of this coding.
 */
export const unpack = async (
  packed: Buffer,
  coding: ContentCoding,
  limitBytes: number,
  tooLarge: () => ServiceError,
): Promise<Buffer> => {
  if (coding === 'identity') return packed;
  try {
    return await UNPACK[coding](packed, { maxOutputLength: limitBytes, chunkSize: CHUNK_BYTES });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException; // zlib fails with system errors only
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw new ServiceError(
      'invalid_request',
      `The body is not valid ${coding} data, as its content encoding says.`,
      {},
      { cause },
    );
  }
};
