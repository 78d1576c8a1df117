import { type IncomingMessage } from 'node:http';
import { limits as settings } from '@decision/contracts';
import { readBody, readPieces, type RequestContext, type RequestPlace } from '@decision/service-kit';
import { itemTooLarge } from './bulk/bulk-faults';

export interface SolveBodyLimits {
  readonly bodyLimitBytes: number;
  readonly itemMaxBytes: number;
  /** How long a client may take to send a small body, and may send nothing of a large one, ms. */
  readonly requestTimeoutMs: number;
  readonly rpcTimeoutMs: number;
}

/** A body that is one input, or a list whose pieces are still to come. */
export type SolveBody =
  | { readonly kind: 'one'; readonly payload: Buffer }
  | { readonly kind: 'list'; readonly pieces: AsyncIterable<Buffer> };

/** A body that announces at most this size is read whole before anything else; larger ones are looked at as they come. */
const SMALL_BYTES = 64 * 1024;
const OPEN_LIST = 0x5b;
const WHITE_SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** The pieces of a body of any size. Throws while it is read; see `readPieces`. */
export const openPieces = (
  request: IncomingMessage,
  { receivedAt, signal }: RequestContext,
  limits: SolveBodyLimits,
  place: RequestPlace,
): AsyncGenerator<Buffer, void, undefined> =>
  readPieces(request, {
    limitBytes: limits.bodyLimitBytes,
    stalledMs: limits.requestTimeoutMs,
    deadline: receivedAt + limits.rpcTimeoutMs,
    signal,
    onSize: place.onSize,
  });

/** Reads a JSON body as far as is needed to tell one input from a list. Throws as `readBody` and `readPieces` do. */
export const readSolveBody = async (
  request: IncomingMessage,
  context: RequestContext,
  limits: SolveBodyLimits,
  place: RequestPlace,
): Promise<SolveBody> => {
  if (!isSmall(request)) return lookInto(openPieces(request, context, limits, place), limits);
  const { bodyLimitBytes: limitBytes, requestTimeoutMs: timeoutMs } = limits;
  const payload = await readBody(request, { limitBytes, limitName: settings.httpBodyBytes.env, timeoutMs });
  place.onSize(payload.length);
  if (firstByte(payload) === OPEN_LIST) return { kind: 'list', pieces: from([payload]) };
  return { kind: 'one', payload: withinLimit(payload, limits) };
};

const isSmall = ({ headers }: IncomingMessage): boolean =>
  headers['content-encoding'] === undefined &&
  headers['transfer-encoding'] === undefined &&
  Number(headers['content-length'] ?? 0) <= SMALL_BYTES;

const lookInto = async (
  pieces: AsyncGenerator<Buffer, void, undefined>,
  limits: SolveBodyLimits,
): Promise<SolveBody> => {
  const begun: Buffer[] = [];
  let first: number | undefined;
  let size = 0;
  for (let step = await pieces.next(); step.done !== true; step = await pieces.next()) {
    begun.push(step.value);
    first ??= firstByte(step.value);
    if (first === OPEN_LIST) return { kind: 'list', pieces: followed(begun, pieces) };
    size += step.value.length;
    if (size > limits.itemMaxBytes) {
      await pieces.return();
      throw itemTooLarge(undefined, limits.itemMaxBytes);
    }
  }
  return { kind: 'one', payload: Buffer.concat(begun, size) };
};

const withinLimit = (payload: Buffer, { itemMaxBytes }: SolveBodyLimits): Buffer => {
  if (payload.length > itemMaxBytes) throw itemTooLarge(undefined, itemMaxBytes);
  return payload;
};

/** The first byte that is not white space of JSON; undefined where there is none. */
const firstByte = (bytes: Buffer): number | undefined => bytes.find((byte) => !WHITE_SPACE.has(byte));

// eslint-disable-next-line @typescript-eslint/require-await -- bytes in hand, given as the stream that larger bodies are
async function* from(pieces: readonly Buffer[]): AsyncGenerator<Buffer, void, undefined> {
  yield* pieces;
}

async function* followed(
  begun: readonly Buffer[],
  rest: AsyncGenerator<Buffer, void, undefined>,
): AsyncGenerator<Buffer, void, undefined> {
  yield* begun;
  yield* rest;
}
