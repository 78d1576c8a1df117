import { isUtf8 } from 'node:buffer';
import { type ErrorCode, type JsonProblem, parseJson, ServiceError } from '@decision/contracts';

/**
 * Maximum nesting of a body. Real documents stay below twenty; deeper bodies are attempts to overflow the stack of recursive code, such as
 * `JSON.stringify` at some thousands.
 */
export const MAX_JSON_DEPTH = 1_000;

const BYTE_ORDER_MARK = /^\uFEFF/;

/**
 * The JSON value of a body. Throws `invalid_json` with the position of the fault, `number_out_of_range` for a number that a double cannot
 * hold exactly, and `invalid_request` for nesting past {@link MAX_JSON_DEPTH}.
 */
export const parseJsonBody = (bytes: Buffer): unknown => parseJsonBytes(bytes, 'body');

/** As {@link parseJsonBody}, for one line of a body of lines; positions are relative to the line. */
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

const REPLACEMENT = '\uFFFD';
const REPLACEMENT_BYTES = Buffer.from(REPLACEMENT);

/** The first fault of bytes that are not valid UTF-8. */
interface Utf8Fault {
  /** The text with invalid bytes replaced; correct up to `position`. */
  readonly text: string;
  /** Characters from 0. */
  readonly position: number;
  readonly byte: number;
}

/** Finds the first invalid byte: the first replacement character that the bytes do not contain themselves. One pass. */
export const findUtf8Fault = (bytes: Buffer): Utf8Fault => {
  const text = bytes.toString('utf8');
  let offset = 0;
  let from = 0;
  for (let at = text.indexOf(REPLACEMENT); at >= 0; at = text.indexOf(REPLACEMENT, from)) {
    offset += Buffer.byteLength(text.slice(from, at));
    const sent = bytes.subarray(offset, offset + REPLACEMENT_BYTES.length).equals(REPLACEMENT_BYTES);
    if (!sent) return { text, position: at, byte: bytes[offset] ?? 0 };
    offset += REPLACEMENT_BYTES.length;
    from = at + 1;
  }
  return { text, position: text.length, byte: 0 };
};

/** A position in text, as error answers give it. */
interface TextPosition {
  /** Characters from 0. */
  readonly position: number;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

const textPosition = (text: string, position: number): TextPosition => {
  const before = text.slice(0, position);
  return { position, line: before.split('\n').length, column: position - before.lastIndexOf('\n') };
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The position of the first bracket that opens more than `maxDepth` levels, or -1. The text must be JSON. One pass, no recursion. */
export const tooDeepAt = (json: string, maxDepth: number): number => {
  // Each level takes an opening and a closing character.
  if (json.length <= maxDepth * 2) return -1;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const character = json.charCodeAt(at);
    if (character === QUOTE) at = endOfString(json, at);
    else if (character === OPEN_ARRAY || character === OPEN_OBJECT) {
      depth += 1;
      if (depth > maxDepth) return at;
    } else if (character === CLOSE_ARRAY || character === CLOSE_OBJECT) depth -= 1;
  }
  return -1;
};

/** The position of the quote that closes the string opened at `start`. */
const endOfString = (json: string, start: number): number => {
  let at = start + 1;
  while (at < json.length && json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
};

/** The escape of U+0000 in JSON; the plain control character is not valid JSON. */
const ESCAPED = '\\u0000';

/** Message for a text with U+0000, as the end of a sentence. */
export const UNSTORABLE_TEXT = 'holds the character U+0000, which no text may hold';

/**
 * Refuses a body with U+0000 in a text or key (V19), and names the first place: the database would store it in a document and then fail
 * every statement that reads into that document. Throws `code`. `given` is the parsed body.
 */
export const requireStorable = (given: unknown, bytes: Buffer, code: ErrorCode): void => {
  const path = findUnstorableText(given, bytes);
  if (path === undefined) return;
  const problem = { code: 'unstorable_text', in: 'body', path, message: UNSTORABLE_TEXT };
  throw new ServiceError(code, `The body${path === '' ? '' : ` at ${path}`} ${UNSTORABLE_TEXT}.`, {
    problems: [problem],
  });
};

/** A JSON pointer to the first text or key with U+0000; nothing is searched if the JSON does not contain its escape. */
export const findUnstorableText = (given: unknown, json: Buffer | string): string | undefined =>
  json.includes(ESCAPED) ? findUnstorable(given) : undefined;

interface OpenPart {
  readonly value: unknown;
  readonly parent: OpenPart | undefined;
  readonly key: string;
}

/** Iterative, since a document may nest deeper than the stack. */
const findUnstorable = (given: unknown): string | undefined => {
  const open: OpenPart[] = [{ value: given, parent: undefined, key: '' }];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const { value } = part;
    if (part.key.includes(NUL) || (typeof value === 'string' && value.includes(NUL))) return pointerTo(part);
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, member] of Object.entries(value)) {
      // Fast path: most values of a table are numbers, and texts without U+0000.
      if (typeof member === 'object' || key.includes(NUL) || (typeof member === 'string' && member.includes(NUL)))
        open.push({ value: member, parent: part, key });
    }
  }
  return undefined;
};

const NUL = '\0';

const pointerTo = (part: OpenPart): string => {
  const keys: string[] = [];
  for (let at = part; at.parent !== undefined; at = at.parent) keys.unshift(at.key.replaceAll(NUL, ESCAPED));
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
};
