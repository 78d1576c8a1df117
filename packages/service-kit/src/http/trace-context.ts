import { randomHex } from './random-hex';

/** Position of a request in a trace (W3C Trace Context). */
interface TraceContext {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** This request's own span, 16 lower-case hex digits. */
  readonly spanId: string;
  /** The value to hand on: this request's span is the parent of what follows. */
  readonly traceparent: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);
/** Not sampled: no tracer of ours has recorded anything. */
const NEW_TRACE_FLAGS = '00';

interface ReceivedTrace {
  readonly traceId: string;
  readonly flags: string;
}

/** Continues the trace of the header, or begins one where the header is absent or malformed. */
export const continueTrace = (header: string | undefined): TraceContext => {
  const received = header === undefined ? undefined : parseTraceparent(header);
  const traceId = received?.traceId ?? randomHex(16);
  const spanId = randomHex(8);
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${received?.flags ?? NEW_TRACE_FLAGS}` };
};

/** Strict: lower case, no zero ids, version 00 with nothing behind it; a later version may carry more, version ff is forbidden. */
const parseTraceparent = (header: string): ReceivedTrace | undefined => {
  const [, version, traceId, parentId, flags, more] = TRACEPARENT.exec(header) ?? [];
  if (traceId === undefined || flags === undefined || version === 'ff') return undefined;
  if (version === '00' && more !== undefined) return undefined;
  return traceId === NO_TRACE || parentId === NO_SPAN ? undefined : { traceId, flags };
};
