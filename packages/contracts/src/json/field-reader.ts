import { hasOnlyExactNumbers } from './parse-json';

/**
 * Reads some fields of an object that is a line of JSON in a longer text, given the start and the end of the line. If it returns undefined,
 * `parseJson` must read the line or report its fault.
 */
export type FieldReader = (text: string, start: number, end: number) => Readonly<Record<string, unknown>> | undefined;

/**
 * A reader of the members with certain keys, which checks all of the text as `parseJson` does, but does not build the other members. It supports
 * common text: without line breaks or escapes in strings, and with scalars under the keys. It remembers the order of keys from one text to the
 * next, so one reader is for texts of one kind. `isExact` states that {@link hasOnlyExactNumbers} holds for the whole text.
 */
export const createFieldReader = (keys: readonly string[], isExact: boolean): FieldReader => {
  const scan = new FieldScan(keys);
  return (text, start, end) => {
    if (!isExact && !hasOnlyExactNumbers(text.slice(start, end))) return undefined;
    return scan.read(text, start, end);
  };
};

const QUOTE = 0x22;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const COMMA = 0x2c;
const POINT = 0x2e;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const OPENED_LIST = 0x5b;
const CLOSED_LIST = 0x5d;
const OPENED_OBJECT = 0x7b;
const CLOSED_OBJECT = 0x7d;
const FIRST_CHARACTER = 0x20;

/** Maximum nesting of lists and objects in this reader. */
const MOST_DEPTH = 16;
/** Maximum number of keys whose order is remembered. */
const MOST_REMEMBERED = 64;

/** No position: this reader does not support the text. */
const NOWHERE = -1;

/** Powers of ten that a double represents exactly, for as many digits as it represents for every number. */
const POWERS_OF_TEN = Array.from({ length: 16 }, (_, power) => 10 ** power);
const MOST_DIGITS = 15;

/** A key as written, with its quotes and the following colon. */
interface SeenKey {
  readonly text: string;
  /** Undefined if the key is not requested. */
  readonly key: string | undefined;
}

class FieldScan {
  private readonly keys: ReadonlySet<string>;
  private readonly seen: SeenKey[] = [];
  private text = '';
  private end = 0;
  private value: unknown;

  constructor(keys: readonly string[]) {
    this.keys = new Set(keys);
  }

  read(text: string, start: number, end: number): Readonly<Record<string, unknown>> | undefined {
    this.text = text;
    this.end = end;
    const fields: Record<string, unknown> = {};
    const at = this.skipBlanks(start);
    const behind = text.charCodeAt(at) === OPENED_OBJECT ? this.readMembers(fields, at + 1) : NOWHERE;
    this.text = '';
    this.value = undefined;
    return behind === NOWHERE ? undefined : fields;
  }

  /** The position after the object and the following white space. */
  private readMembers(fields: Record<string, unknown>, start: number): number {
    const { text, end } = this;
    let at = this.skipBlanks(start);
    if (text.charCodeAt(at) === CLOSED_OBJECT) return this.isEnd(at + 1);
    for (let index = 0; at < end; index += 1) {
      const seen = this.seen[index];
      const key = seen !== undefined && text.startsWith(seen.text, at) ? seen : this.readKey(index, at);
      if (key === undefined) return NOWHERE;
      at = this.skipBlanks(at + key.text.length);
      if (key.key === undefined) at = this.skipValue(at, 0);
      else {
        at = this.readScalar(at);
        fields[key.key] = this.value;
      }
      if (at === NOWHERE) return NOWHERE;
      at = this.skipBlanks(at);
      const next = text.charCodeAt(at);
      if (next === CLOSED_OBJECT) return this.isEnd(at + 1);
      if (next !== COMMA) return NOWHERE;
      at = this.skipBlanks(at + 1);
    }
    return NOWHERE;
  }

  private isEnd(behind: number): number {
    return this.skipBlanks(behind) === this.end ? this.end : NOWHERE;
  }

  private readKey(index: number, at: number): SeenKey | undefined {
    const behind = this.text.charCodeAt(at) === QUOTE ? this.skipString(at) : NOWHERE;
    if (behind === NOWHERE) return undefined;
    const colon = this.skipBlanks(behind);
    if (this.text.charCodeAt(colon) !== COLON) return undefined;
    const key = this.text.slice(at + 1, behind - 1);
    const seen = { text: this.text.slice(at, colon + 1), key: this.keys.has(key) ? key : undefined };
    if (index < MOST_REMEMBERED) this.seen[index] = seen;
    return seen;
  }

  /** A line break is not white space here: it separates texts. */
  private skipBlanks(start: number): number {
    const { text } = this;
    let at = start;
    for (let unit = text.charCodeAt(at); unit === 0x20 || unit === 0x09 || unit === 0x0d; unit = text.charCodeAt(at))
      at += 1;
    return at;
  }

  /** The position after a string; nowhere if it has escapes. */
  private skipString(start: number): number {
    const { text, end } = this;
    for (let at = start + 1; at < end; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit === QUOTE) return at + 1;
      if (unit === BACKSLASH || unit < FIRST_CHARACTER) return NOWHERE;
    }
    return NOWHERE;
  }

  private readScalar(at: number): number {
    const unit = this.text.charCodeAt(at);
    if (unit === QUOTE) {
      const behind = this.skipString(at);
      this.value = this.text.slice(at + 1, behind - 1);
      return behind;
    }
    if (unit === MINUS || (unit >= ZERO && unit <= NINE)) return this.readNumber(at);
    this.value = unit === LETTER_N ? null : unit === LETTER_T;
    return this.skipWord(at, unit);
  }

  private skipWord(at: number, unit: number): number {
    const word = unit === LETTER_T ? 'true' : unit === LETTER_F ? 'false' : unit === LETTER_N ? 'null' : '';
    return word !== '' && this.text.startsWith(word, at) ? at + word.length : NOWHERE;
  }

  /** Computes numbers of up to fifteen digits without an exponent: both parts of the fraction are exact then, and so is the rounding. */
  private readNumber(start: number): number {
    const { text } = this;
    const first = text.charCodeAt(start) === MINUS ? start + 1 : start;
    let at = first;
    let digits = 0;
    let point = NOWHERE;
    for (let unit = text.charCodeAt(at); (unit >= ZERO && unit <= NINE) || (unit === POINT && point === NOWHERE);) {
      if (unit === POINT) point = at;
      else digits = digits * 10 + (unit - ZERO);
      at += 1;
      unit = text.charCodeAt(at);
    }
    const behind = this.skipNumber(start);
    const decimals = point === NOWHERE ? 0 : at - point - 1;
    if (behind === at && at - first <= MOST_DIGITS) {
      const size = digits / (POWERS_OF_TEN[decimals] ?? 1);
      this.value = first === start ? size : -size;
    } else if (behind !== NOWHERE) this.value = Number(text.slice(start, behind));
    return behind;
  }

  private skipNumber(start: number): number {
    const { text } = this;
    const first = text.charCodeAt(start) === MINUS ? start + 1 : start;
    let at = this.skipDigits(first);
    if (at === first || (at > first + 1 && text.charCodeAt(first) === ZERO)) return NOWHERE;
    if (text.charCodeAt(at) === POINT) {
      const behind = this.skipDigits(at + 1);
      if (behind === at + 1) return NOWHERE;
      at = behind;
    }
    if ((text.charCodeAt(at) | 0x20) !== 0x65) return at;
    const sign = text.charCodeAt(at + 1);
    const exponent = sign === MINUS || sign === 0x2b ? at + 2 : at + 1;
    const behind = this.skipDigits(exponent);
    return behind === exponent ? NOWHERE : behind;
  }

  private skipDigits(start: number): number {
    const { text } = this;
    let at = start;
    for (let unit = text.charCodeAt(at); unit >= ZERO && unit <= NINE; unit = text.charCodeAt(at)) at += 1;
    return at;
  }

  private skipValue(at: number, depth: number): number {
    const unit = this.text.charCodeAt(at);
    if (unit === QUOTE) return this.skipString(at);
    if (unit === MINUS || (unit >= ZERO && unit <= NINE)) return this.skipNumber(at);
    if (unit === OPENED_LIST || unit === OPENED_OBJECT)
      return depth === MOST_DEPTH ? NOWHERE : this.skipElements(at + 1, unit === OPENED_OBJECT, depth + 1);
    return this.skipWord(at, unit);
  }

  private skipElements(start: number, isObject: boolean, depth: number): number {
    const { text } = this;
    const closed = isObject ? CLOSED_OBJECT : CLOSED_LIST;
    let at = this.skipBlanks(start);
    if (text.charCodeAt(at) === closed) return at + 1;
    while (at < this.end) {
      if (isObject) {
        const behind = text.charCodeAt(at) === QUOTE ? this.skipString(at) : NOWHERE;
        if (behind === NOWHERE) return NOWHERE;
        const colon = this.skipBlanks(behind);
        if (text.charCodeAt(colon) !== COLON) return NOWHERE;
        at = this.skipBlanks(colon + 1);
      }
      at = this.skipValue(at, depth);
      if (at === NOWHERE) return NOWHERE;
      at = this.skipBlanks(at);
      const next = text.charCodeAt(at);
      if (next === closed) return at + 1;
      if (next !== COMMA) return NOWHERE;
      at = this.skipBlanks(at + 1);
    }
    return NOWHERE;
  }
}
