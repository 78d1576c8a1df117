import { isUtf8 } from 'node:buffer';
import { type JsonProblem, parseJson, ServiceError } from '@decision/contracts';
import { tooDeepAt } from './json-depth';
import { textPosition, type TextPosition } from './text-position';
import { findUtf8Fault } from './utf8-fault';

/**
 * How deep a body may nest. Real documents stay below twenty; deeper bodies are made to overflow the stack of code that walks them, such as
 * `JSON.stringify` at some thousands.
 */
export const MAX_JSON_DEPTH = 1_000;

const BYTE_ORDER_MARK = /^\uFEFF/;

/**
 * The JSON value of a body. Throws `invalid_json` with the position of the fault, `number_out_of_range` for a number that a double cannot
 * hold exactly, and `invalid_request` for nesting past {@link MAX_JSON_DEPTH}.
 */
export const parseJsonBody = (bytes: Buffer): unknown => parseJsonBytes(bytes, 'body');

/** As {@link parseJsonBody}, of one line of a body of lines; places count from the beginning of the line. */
export const parseJsonLine = (bytes: Buffer): unknown => parseJsonBytes(bytes, 'line');

/** Name of the bytes in sentences. */
type Subject = 'body' | 'line';

const parseJsonBytes = (bytes: Buffer, subject: Subject): unknown => {
  if (!isUtf8(bytes)) throw notUtf8(bytes, subject);
  const text = bytes.toString('utf8').replace(BYTE_ORDER_MARK, '');
  const parsing = parseJson(text);
  if (!parsing.ok) throw text.trim() === '' ? emptyBody() : notJson(parsing.problem, subject);
  const deep = tooDeepAt(text, MAX_JSON_DEPTH);
  if (deep >= 0) throw tooDeep(textPosition(text, deep), subject);
  return parsing.value;
};

const emptyBody = (): ServiceError =>
  new ServiceError('invalid_json', 'The body is empty; this call needs JSON.', { position: 0, line: 1, column: 1 });

const notUtf8 = (bytes: Buffer, subject: Subject): ServiceError => {
  const { text, position, byte } = findUtf8Fault(bytes);
  const place = textPosition(text, position);
  return new ServiceError(
    'invalid_json',
    `The ${subject} is not UTF-8: the byte 0x${byte.toString(16).padStart(2, '0')} ${where(place)} cannot stand there.`,
    { ...place },
  );
};

const notJson = ({ kind, reason, position, line, column }: JsonProblem, subject: Subject): ServiceError => {
  const place = { position, line, column };
  return kind === 'syntax'
    ? new ServiceError('invalid_json', `The ${subject} is not JSON: ${reason} ${where(place)}.`, place)
    : new ServiceError(
        'number_out_of_range',
        `The number ${where(place)} cannot be held exactly; send it as text.`,
        place,
      );
};

const tooDeep = (place: TextPosition, subject: Subject): ServiceError =>
  new ServiceError('invalid_request', `The ${subject} nests deeper than ${MAX_JSON_DEPTH} levels ${where(place)}.`, {
    ...place,
    problems: [{ in: 'body', path: '', message: `nests deeper than ${MAX_JSON_DEPTH} levels` }],
  });

const where = ({ line, column }: TextPosition): string => `at line ${line}, column ${column}`;
