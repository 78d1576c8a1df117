import { ServiceError } from '../service-error';

/** Message headers as produced: text by lowercase name. */
export type MessageHeaders = Readonly<Record<string, string>>;

/** Message headers as received from a broker client. */
export type ReceivedHeaders = Readonly<Record<string, Buffer | string | (Buffer | string)[] | undefined>>;

/** Headers that violate the contract of their message; the message is answered with an error or dropped, never retried. */
export class EnvelopeError extends ServiceError {}

/** Text of a header, or undefined if it is absent. The last value counts if a header repeats. */
export const headerText = (headers: ReceivedHeaders, name: string): string | undefined => {
  const header = headers[name];
  const value = Array.isArray(header) ? header.at(-1) : header;
  if (value === undefined) return undefined;
  return typeof value === 'string' ? value : value.toString('utf8');
};

/** Text of a required header. Throws {@link EnvelopeError} that names the header. */
export const requiredHeader = (headers: ReceivedHeaders, name: string): string => {
  const text = headerText(headers, name);
  if (text === undefined || text === '')
    throw new EnvelopeError('internal_error', `The message lacks the header "${name}".`);
  return text;
};

/** Whole number of a required header, 0 or more. Throws {@link EnvelopeError} that names the header. */
export const requiredCount = (headers: ReceivedHeaders, name: string): number => {
  const value = Number(requiredHeader(headers, name));
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new EnvelopeError('internal_error', `The header "${name}" is not a whole number of 0 or more.`);
  }
  return value;
};
