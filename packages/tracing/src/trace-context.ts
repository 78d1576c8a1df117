import { randomFillSync } from 'node:crypto';

/** Position of some work in a trace (W3C Trace Context). */
export interface TraceContext {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** 16 lower-case hex digits. */
  readonly spanId: string;
  /** Bits; the lowest says whether the trace is recorded. */
  readonly flags: number;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

/**
 * Reads the header `traceparent`; undefined if it is malformed. Strict: lower case, no zero ids, version 00 with nothing after it; a later
 * version may contain more, version ff is forbidden.
 */
export const parseTraceparent = (header: string): TraceContext | undefined => {
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined || version === 'ff') return undefined;
  if (version === '00' && more !== undefined) return undefined;
  return traceId === NO_TRACE || spanId === NO_SPAN
    ? undefined
    : { traceId, spanId, flags: Number.parseInt(flags, 16) };
};

/** Writes the header `traceparent`. */
export const formatTraceparent = ({ traceId, spanId, flags }: TraceContext): string =>
  `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;

/** The position of a request in a process that records no traces: below the caller's, with its flags, or in a new unrecorded trace. */
export const continueTrace = (header: string | undefined): TraceContext => {
  const received = header === undefined ? undefined : parseTraceparent(header);
  return { traceId: received?.traceId ?? randomHex(16), spanId: randomHex(8), flags: received?.flags ?? 0 };
};

const POOL_BYTES = 4_096;
const pool = Buffer.allocUnsafeSlow(POOL_BYTES);
let used = POOL_BYTES;

/** Random lower-case hex digits, two per byte; taken from a pool, since every request needs some. */
const randomHex = (bytes: 8 | 16): string => {
  if (used + bytes > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString('hex', used - bytes, used);
};
