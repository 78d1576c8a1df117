import { LINES_MEDIA_TYPE, ServiceError } from '@decision/contracts';

const JSON_TYPE = /^application\/(?:json|[a-z0-9!#$&^_.+-]+\+json)$/;
const CHARSET = /^charset="?utf-?8"?$/;

/**
 * Accepts a JSON content type: `application/json` or `application/*+json`, in UTF-8, or none at all. Throws
 * `unsupported_media_type` for every other.
 */
export const checkJsonContentType = (header: string | undefined): void => {
  if (header === undefined || header === 'application/json') return;
  const [type = '', ...parameters] = header
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  if (!JSON_TYPE.test(type)) {
    throw unsupported(`The content type ${quote(header)} is not accepted; send application/json.`);
  }
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  if (charset !== undefined && !CHARSET.test(charset)) {
    throw unsupported(`The content type ${quote(header)} names another character set; JSON is sent in UTF-8.`);
  }
};

const unsupported = (sentence: string): ServiceError => new ServiceError('unsupported_media_type', sentence);

const MAX_QUOTED = 100;
const quote = (text: string): string =>
  JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}...` : text);

export const LINES_TYPE = LINES_MEDIA_TYPE;

const LINES = /^application\/x-ndjson(?:\s*;\s*charset="?utf-?8"?)?$/i;

/** The formats of many inputs and results: JSON, or one JSON value per line. */
export type BodyForm = 'list' | 'lines';

/** Whether a content type means one JSON value per line. */
export const isLinesType = (contentType: string | undefined): boolean =>
  contentType !== undefined && LINES.test(contentType.trim());

/** The format of an answer: the one that the client accepts, else the default. */
export const formOfAnswer = (accept: string | undefined, usual: BodyForm): BodyForm => {
  const accepted = (accept ?? '')
    .toLowerCase()
    .split(',')
    .map((range) => (range.split(';')[0] ?? '').trim());
  const lines = accepted.includes(LINES_TYPE);
  const list = accepted.includes('application/json');
  return lines === list ? usual : lines ? 'lines' : 'list';
};
