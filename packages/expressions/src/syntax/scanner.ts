import { FormulaFault, type FormulaProblemCode } from '../formula-problem';
import { type Span } from './nodes';

export type Token = Span &
  (
    | { readonly type: 'number'; readonly value: number }
    | { readonly type: 'string'; readonly value: string }
    /** `quoted`: written in backticks, so never a reserved word. A reference keeps its `$`. */
    | { readonly type: 'word'; readonly value: string; readonly quoted: boolean }
    | { readonly type: 'symbol'; readonly value: string }
    | { readonly type: 'end' }
  );

const SPACE = /\s*/uy;
const WORD = /\$?[\p{L}_][\p{L}\p{M}\p{N}_]*/uy;
const NUMBER = /(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const SYMBOL = /===|!==|\*\*|<=|>=|<>|==|!=|=>|&&|\|\||[-+*/%<>=!?:.,()[\]]/y;
/** Characters that must not follow a number directly. */
const NUMBER_RUNS_ON = /[\p{L}\p{N}_$]|\.\d/uy;

const HINTS: Readonly<Record<string, string>> = {
  '===': 'equality is written ==',
  '!==': 'inequality is written !=',
  '^': 'a power is written **',
  '&': '"and" is written && or and',
  '|': '"or" is written || or or',
  '{': 'objects cannot be written in a formula',
  '}': 'objects cannot be written in a formula',
  '#': 'comments are not part of a formula',
  ';': 'a formula is one expression',
};

/** Splits the text of a formula into tokens, one at a time. */
export class Scanner {
  private position = 0;

  constructor(private readonly text: string) {}

  next(): Token {
    this.take(SPACE);
    const { position } = this;
    if (position >= this.text.length) return { type: 'end', position, length: 0 };
    return this.quoted() ?? this.word() ?? this.number() ?? this.symbol();
  }

  private quoted(): Token | undefined {
    const { position } = this;
    const first = this.text[position];
    if (first === '"' || first === "'")
      return { type: 'string', value: this.unquote(position), ...this.since(position) };
    const reference = first === '$' && this.text[position + 1] === '`';
    if (first !== '`' && !reference) return undefined;
    const value = this.unquote(reference ? position + 1 : position);
    if (value === '') this.fail('unexpected_text', 'a name in backticks cannot be empty', this.since(position));
    return { type: 'word', value: reference ? `$${value}` : value, quoted: true, ...this.since(position) };
  }

  private unquote(at: number): string {
    const { value, end } = scanQuoted(this.text, at);
    this.position = end;
    return value;
  }

  private word(): Token | undefined {
    const { position } = this;
    const value = this.take(WORD);
    return value === '' ? undefined : { type: 'word', value, quoted: false, ...this.since(position) };
  }

  private number(): Token | undefined {
    const { position } = this;
    const digits = this.take(NUMBER);
    if (digits === '') return undefined;
    if (this.take(NUMBER_RUNS_ON) !== '') {
      this.fail('invalid_number', 'a number ends before a letter, a digit or a second point', this.since(position));
    }
    const value = parseDecimal(digits);
    if (value === undefined) {
      return this.fail('invalid_number', 'the number cannot be held exactly in double precision', this.since(position));
    }
    return { type: 'number', value, ...this.since(position) };
  }

  private symbol(): Token {
    const { position } = this;
    const value = this.take(SYMBOL);
    const spelling = value === '' ? String.fromCodePoint(this.text.codePointAt(position) ?? 0) : value;
    const hint = HINTS[spelling];
    if (value !== '' && hint === undefined) return { type: 'symbol', value, ...this.since(position) };
    const message = `${printable(spelling)} means nothing here${hint === undefined ? '' : `; ${hint}`}`;
    return this.fail('unexpected_character', message, { position, length: spelling.length });
  }

  /** Advances past the match of a sticky pattern. */
  private take(pattern: RegExp): string {
    pattern.lastIndex = this.position;
    const found = pattern.exec(this.text)?.[0] ?? '';
    this.position += found.length;
    return found;
  }

  private since(position: number): Span {
    return { position, length: this.position - position };
  }

  private fail(code: FormulaProblemCode, message: string, span: Span): never {
    throw new FormulaFault(code, message, span);
  }
}

/** A character for a message: control characters and lone surrogates by number. */
const printable = (character: string): string =>
  /^[\p{C}\p{Z}]$/u.test(character)
    ? `the character U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
    : `"${character}"`;

const PLAIN: Readonly<Record<string, RegExp>> = {
  '"': /[^"\\\n\r]*/y,
  "'": /[^'\\\n\r]*/y,
  '`': /[^`\\\n\r]*/y,
};

const ESCAPE = /\\(?:([bfnrt"'`\\/])|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\})/y;
const NAMED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const LAST_CODE_POINT = 0x10ffff;

/**
 * Reads text in quotes that begins at `start` with `"`, `'` or a backtick. Escapes: \b \f \n \r \t \" \' \` \\ \/ \uXXXX \u{X...}. Line
 * breaks must be escaped. Answers the content and the position after the closing quote.
 */
const scanQuoted = (text: string, start: number): { readonly value: string; readonly end: number } => {
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

const DECIMAL = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const INTEGER = /^[+-]?\d+$/;

/** Longer texts are not numbers. */
const LONGEST = 400;

/**
 * The number that decimal digits write, or undefined if they write none, or one that a double cannot represent: too large, or an integer
 * that lies between two doubles and is not the usual notation of the nearest.
 */
export const parseDecimal = (text: string): number | undefined => {
  if (text.length > LONGEST || !DECIMAL.test(text)) return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  if (Number.isSafeInteger(value) || !INTEGER.test(text) || String(value) === text) return value;
  return BigInt(text.replace('+', '')) === BigInt(value) ? value : undefined;
};
