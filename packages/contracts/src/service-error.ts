import { type ErrorCode, errorCodes } from './error-codes';

/** Additional data of an error answer besides its sentence: positions, limits, names. Snake case, JSON values. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/**
 * An expected failure with a stable code. The message is a sentence for the client: it names the thing, the position, the limit and the way out,
 * and contains no secrets and no internals.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: ErrorDetails = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  get status(): number {
    return errorCodes[this.code].status;
  }

  get canRetry(): boolean {
    return errorCodes[this.code].canRetry;
  }
}

/** Whether a text is one of the known error codes; used for codes received from other processes. */
export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorCodes, code);
