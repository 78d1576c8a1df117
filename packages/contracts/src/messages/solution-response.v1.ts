import { Type } from '@sinclair/typebox';
import { type ErrorCode } from '../error-codes';
import { parseJson } from '../json/parse-json';
import { isErrorCode, ServiceError } from '../service-error';
import { compileValidator } from '../validator';
import { headerText, type MessageHeaders, type ReceivedHeaders, requiredHeader } from './headers';

/**
 * The envelope of a message on `solution-response`, version 1. For a success the value is the answer's bytes, sent to the client unchanged; for
 * a failure it is `{"error": sentence, "details": {...}}`.
 */
interface SolutionResponseEnvelope {
  readonly correlationId: string;
  readonly requester: string;
  /** Absent on success. */
  readonly errorCode: ErrorCode | undefined;
  /** The worker that answered; for logs. */
  readonly worker: string;
  /**
   * Time from the worker's fetch of the request to its answer, ms, to the microsecond: waiting and handling. Undefined if nothing was handled,
   * or if the release of the worker does not measure it.
   */
  readonly workedMs: number | undefined;
}

const SOLUTION_RESPONSE_VERSION = '1';

/** Encodes an envelope as message headers. */
export const encodeSolutionResponse = (envelope: SolutionResponseEnvelope): MessageHeaders => ({
  v: SOLUTION_RESPONSE_VERSION,
  'correlation-id': envelope.correlationId,
  requester: envelope.requester,
  worker: envelope.worker,
  ...(envelope.errorCode === undefined ? {} : { 'error-code': envelope.errorCode }),
  ...(envelope.workedMs === undefined ? {} : { 'worked-us': String(Math.round(envelope.workedMs * 1_000)) }),
});

/** Decodes an envelope. Throws `EnvelopeError` naming the missing header. */
export const decodeSolutionResponse = (headers: ReceivedHeaders): SolutionResponseEnvelope => {
  const code = headerText(headers, 'error-code');
  return {
    correlationId: requiredHeader(headers, 'correlation-id'),
    requester: requiredHeader(headers, 'requester'),
    errorCode: code === undefined || isErrorCode(code) ? code : 'internal_error',
    worker: headerText(headers, 'worker') ?? 'unknown',
    workedMs: readWorkedMs(headerText(headers, 'worked-us')),
  };
};

/** A value that is not a whole number of microseconds counts as not measured: the answer matters more than its timing. */
const readWorkedMs = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) / 1_000 : undefined;

const checkFailure = compileValidator(
  Type.Object({ error: Type.String(), details: Type.Record(Type.String(), Type.Unknown()) }),
);

/** The value of a failed reply. */
export const encodeSolutionFailure = (error: ServiceError): Buffer =>
  Buffer.from(JSON.stringify({ error: error.message, details: error.details }));

/** The error in a failed reply; an unreadable value becomes an internal error. */
export const decodeSolutionFailure = (code: ErrorCode, value: Buffer): ServiceError => {
  const parsing = parseJson(value.toString('utf8'));
  const body = checkFailure(parsing.ok ? parsing.value : undefined);
  if (body.ok) return new ServiceError(code, body.value.error, body.value.details);
  return new ServiceError('internal_error', 'The worker answered with an error that cannot be read.');
};
