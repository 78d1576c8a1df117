import { FormulaFault } from '../formula-problem';

const PLAIN: Readonly<Record<string, RegExp>> = {
  '"': /[^"\\\n\r]*/y,
  "'": /[^'\\\n\r]*/y,
  '`': /[^`\\\n\r]*/y,
};

const ESCAPE = /\\(?:([bfnrt"'`\\/])|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\})/y;
const NAMED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const LAST_CODE_POINT = 0x10ffff;

/**
 * Reads text in quotes that begins at `start` with `"`, `'` or a backtick. Escapes: \b \f \n \r \t \" \' \` \\ \/ \uXXXX
 * \u{X...}. Line breaks must be escaped. Answers what the quotes hold and the position after the closing one.
 */
export const scanQuoted = (text: string, start: number): { readonly value: string; readonly end: number } => {
  const quote = text[start] ?? '"';
  const plain = PLAIN[quote] ?? ESCAPE;
  let value = '';
  let position = start + 1;
  for (;;) {
    const chunk = matchAt(plain, text, position)?.[0] ?? '';
    value += chunk;
    position += chunk.length;
    if (text[position] === quote) return { value, end: position + 1 };
    if (text[position] !== '\\') {
      throw new FormulaFault('unterminated_string', `the closing ${quote} is missing`, {
        position: start,
        length: position - start,
      });
    }
    const escape = matchAt(ESCAPE, text, position);
    value += meaningOf(escape, position);
    position += escape?.[0].length ?? 0;
  }
};

const meaningOf = (escape: RegExpExecArray | null, position: number): string => {
  const [, named, four, braced] = escape ?? [];
  if (named !== undefined) return NAMED[named] ?? named;
  if (four !== undefined) return String.fromCharCode(parseInt(four, 16));
  const codePoint = parseInt(braced ?? '', 16);
  if (codePoint <= LAST_CODE_POINT) return String.fromCodePoint(codePoint);
  const message = 'a backslash is followed by n, r, t, b, f, a quotation mark, a backslash, /, uXXXX or u{XXXXX}';
  throw new FormulaFault('invalid_escape', message, { position, length: escape?.[0].length ?? 1 });
};

const matchAt = (pattern: RegExp, text: string, position: number): RegExpExecArray | null => {
  pattern.lastIndex = position;
  return pattern.exec(text);
};
