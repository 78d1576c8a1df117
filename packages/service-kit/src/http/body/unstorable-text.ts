import { type ErrorCode, ServiceError } from '@decision/contracts';

/** How a body in JSON spells U+0000; a control character as it is would be no JSON. */
const ESCAPED = '\\u0000';

/** Message for a text with U+0000, as the end of a sentence. */
export const UNSTORABLE_TEXT = 'holds the character U+0000, which no text may hold';

/**
 * Refuses a body that holds U+0000 in a text or key (V19), and names the first place: the database keeps it in a document and then fails at every
 * statement that looks into that, whoever asks. Throws `code`. `given` is what the bytes say.
 */
export const requireStorable = (given: unknown, bytes: Buffer, code: ErrorCode): void => {
  const path = findUnstorableText(given, bytes);
  if (path === undefined) return;
  const problem = { code: 'unstorable_text', in: 'body', path, message: UNSTORABLE_TEXT };
  throw new ServiceError(code, `The body${path === '' ? '' : ` at ${path}`} ${UNSTORABLE_TEXT}.`, {
    problems: [problem],
  });
};

/** A JSON pointer to the first text or key with U+0000 in what JSON says; without its escape in the JSON nothing is looked at. */
export const findUnstorableText = (given: unknown, json: Buffer | string): string | undefined =>
  json.includes(ESCAPED) ? findUnstorable(given) : undefined;

interface OpenPart {
  readonly value: unknown;
  readonly parent: OpenPart | undefined;
  readonly key: string;
}

/** Iterative: a document may be nested deeper than the stack. */
const findUnstorable = (given: unknown): string | undefined => {
  const open: OpenPart[] = [{ value: given, parent: undefined, key: '' }];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const { value } = part;
    if (part.key.includes(NUL) || (typeof value === 'string' && value.includes(NUL))) return pointerTo(part);
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, member] of Object.entries(value)) {
      // Most of a table are numbers, and text without it.
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
