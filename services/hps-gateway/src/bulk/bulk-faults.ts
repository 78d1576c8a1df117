import { limits, optionalLimits, ServiceError } from '@decision/contracts';

/** The refusal of an input that is too large; `index` is undefined where the request has only one. */
export const itemTooLarge = (index: number | undefined, limitBytes: number): ServiceError =>
  new ServiceError(
    'payload_too_large',
    `The input${index === undefined ? '' : ` at index ${index}`} is larger than ${limitBytes} bytes, the limit set by ${limits.itemMaxBytes.env}.`,
    { ...(index === undefined ? {} : { index }), limit_bytes: limitBytes, limit_name: limits.itemMaxBytes.env },
  );

export const tooManyItems = (limitItems: number): ServiceError =>
  new ServiceError(
    'too_many_items',
    `The request has more than ${limitItems} inputs, the limit set by ${optionalLimits.bulkMaxItems.env}.`,
    { limit_items: limitItems, limit_name: optionalLimits.bulkMaxItems.env },
  );

export const itemNotUtf8 = (index: number): ServiceError =>
  new ServiceError('invalid_json', `The body is not JSON: the input at index ${index} is not UTF-8 text.`, { index });
