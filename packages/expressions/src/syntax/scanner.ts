import { FormulaFault, type FormulaProblemCode } from '../formula-problem';
import { parseDecimal } from './decimal';
import { scanQuoted } from './quoted';
import { type Place } from './nodes';

export type Token = Place &
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

/** Cuts the text of a formula into tokens, one at a time. */
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

  /** Moves past what the sticky pattern matches here. */
  private take(pattern: RegExp): string {
    pattern.lastIndex = this.position;
    const found = pattern.exec(this.text)?.[0] ?? '';
    this.position += found.length;
    return found;
  }

  private since(position: number): Place {
    return { position, length: this.position - position };
  }

  private fail(code: FormulaProblemCode, message: string, place: Place): never {
    throw new FormulaFault(code, message, place);
  }
}

/** A character as it may stand in a message: controls and lone surrogates by their number. */
const printable = (character: string): string =>
  /^[\p{C}\p{Z}]$/u.test(character)
    ? `the character U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
    : `"${character}"`;
