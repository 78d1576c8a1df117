import { type IncomingMessage } from 'node:http';
import { ServiceError } from '@decision/contracts';
import { ClientGone } from '../client-gone';
import { contentCodingOf, unpack } from './content-coding';

export interface ReadBodyOptions {
  /** Largest body, before and after decompression, in bytes. */
  readonly limitBytes: number;
  /** The setting that holds the limit, for the sentence to the client; absent where it is that of the call. */
  readonly limitName?: string | undefined;
  /** How long the client may take, in ms. Default 60,000. */
  readonly timeoutMs?: number;
  /** Gives up with its reason. */
  readonly signal?: AbortSignal;
  /** Told of the size so far, packed and then unpacked; what it throws ends the reading. */
  readonly onSize?: ((bytes: number) => void) | undefined;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const EMPTY = Buffer.alloc(0);

/**
 * Reads the whole body as bytes, decompressed. Throws `payload_too_large` as soon as the limit is known to be passed,
 * `unsupported_media_type` for an unknown content encoding, `invalid_request` for damaged data and for a body that is too slow, and
 * {@link ClientGone} where the client went away.
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

/** The announced size in bytes; NaN where none is announced. */
export const declaredBytes = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? NaN);

/** The refusal of a body over the limit, also used before any of it was read. */
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
        return fail(error as Error); // of a place, which throws `ServiceError`
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

const bodyTooSlow = (timeoutMs: number): ServiceError =>
  new ServiceError('invalid_request', `The body did not arrive within ${timeoutMs} ms.`, { timeout_ms: timeoutMs });
