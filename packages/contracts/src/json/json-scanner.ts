import { NumberReader } from './number-reader';

/** Event of the last scanned byte: open the whole, end an item (by a comma, or by closing the whole), close an empty whole. */
type ScanEvent = 'open' | 'item' | 'last-item' | 'empty';

/** Position at which a body is not as expected. */
export interface ScanFault {
  readonly reason: string;
  /** `other kind` if the body may be JSON, but of another kind; `too deep` if its nesting exceeds the bound. */
  readonly kind: 'syntax' | 'other kind' | 'too deep';
  /** Bytes from the start of the body. */
  readonly position: number;
  /** From 1. */
  readonly line: number;
  /** Bytes from 1. */
  readonly column: number;
  /** The same fault for a reader of whole tokens: its position is the start of the broken word, escape or part of a number. */
  readonly token: { readonly position: number; readonly reason: string };
}

type Expected = 'whole' | 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'comma' | 'nothing';
type Token = 'string' | 'escape' | 'number' | 'literal';
/** The expected kind of a text. Items and members are found in a list or an object; `value` is only checked. */
type Whole = 'list' | 'object' | 'value';

const SPACE = 0x20;
const TAB = 0x09;
const LINE_BREAK = 0x0a;
const RETURN = 0x0d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const LOWER_U = 0x75;

/** Bytes that represent themselves in a string. UTF-8 validity of non-ASCII bytes is checked elsewhere, faster. */
const PLAIN = new Uint8Array(256).map((_, byte) => (byte >= SPACE && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0));
const SIMPLE_ESCAPES = new Set([...'"\\/bfnrt'].map((character) => character.charCodeAt(0)));
const HEX_DIGITS = new Set([...'0123456789abcdefABCDEF'].map((character) => character.charCodeAt(0)));
const LITERALS: ReadonlyMap<number, string> = new Map(
  ['true', 'false', 'null'].map((word) => [word.charCodeAt(0), word]),
);
const HEX_LENGTH = 4;
const VALUE_EXPECTED = 'a value was expected';
const ENDS_TOO_EARLY = 'the text ends too early';
const UNKNOWN_ESCAPE = 'the escape is unknown';
const BEGINS_A_VALUE = /[[{"\-0-9tfn]/;

/**
 * Finds the start and end of each item of a JSON list, or of each member of a JSON object, in pieces of a body, without building their values:
 * the grammar is checked byte by byte, in one pass and without recursion. Line breaks between tokens are replaced by spaces in place.
 */
export class JsonScanner {
  fault: ScanFault | undefined;
  /** Event of the last scanned byte. */
  event: ScanEvent | undefined;
  /** Positions in the body of the first byte and after the last byte of the newest item, or value of a member. */
  itemStart = 0;
  itemEnd = 0;
  /** The same for the newest member's key, including quotes. */
  keyStart = 0;
  keyEnd = 0;
  private expected: Expected;
  private token: Token | undefined;
  private isKey = false;
  private readonly number = new NumberReader();
  private word = '';
  private wordAt = 0;
  private hexLeft = 0;
  /** Open containers, outermost first; true for a list. */
  private readonly open: boolean[] = [];
  /** Position of the start of the piece in the body. */
  private base = 0;
  private line = 1;
  private lineStart = 0;

  constructor(
    private readonly whole: Whole,
    private readonly maxDepth: number,
  ) {
    this.expected = whole === 'value' ? 'value' : 'whole';
  }

  /** Whether an item has started and not ended. */
  get isInItem(): boolean {
    return this.token !== undefined || this.open.length > 1;
  }

  /** Whether the whole is complete. */
  get isComplete(): boolean {
    return this.expected === 'nothing';
  }

  /**
   * Scans a piece from `from` to its next event or its end, and returns the position after it. The event is stored in {@link event};
   * {@link fault} is set if the text is not as expected. A piece is scanned to its end before the next one.
   */
  scan(piece: Buffer, from: number): number {
    this.event = undefined;
    let at = from;
    while (at < piece.length && this.fault === undefined) {
      if (this.token === undefined) {
        this.event = this.structure(piece, at);
        at += 1;
        if (this.event !== undefined) return at;
      } else {
        at = this.continueToken(piece, at);
      }
    }
    return at;
  }

  /** Records that the piece has been scanned to its end. */
  endPiece(piece: Buffer): void {
    this.base += piece.length;
  }

  /** Records the end of the body; sets {@link fault} if the whole is incomplete. */
  end(): void {
    if (this.token === 'number' && this.open.length === 0 && this.number.isComplete()) this.completed(0);
    if (!this.isComplete) this.fail(0, ENDS_TOO_EARLY);
  }

  /** One byte outside of strings, numbers and words. */
  private structure(piece: Buffer, at: number): ScanEvent | undefined {
    const byte = piece[at] ?? 0;
    if (byte === SPACE || byte === TAB || byte === RETURN || byte === LINE_BREAK) {
      this.space(piece, at, byte);
      return undefined;
    }
    if (this.expected === 'comma') return this.afterValue(byte, at);
    if (this.expected === 'key' || this.expected === 'key or }') return this.key(byte, at);
    if (this.expected === 'colon') this.require(byte === COLON, 'value', at, 'a colon was expected');
    else if (this.expected === 'nothing') this.fail(at, this.expectedAfterValue());
    else return this.value(byte, at);
    return undefined;
  }

  private space(piece: Buffer, at: number, byte: number): void {
    if (byte === LINE_BREAK) {
      this.line += 1;
      this.lineStart = this.base + at + 1;
    }
    if (byte === LINE_BREAK || byte === RETURN) piece[at] = SPACE;
  }

  private value(byte: number, at: number): ScanEvent | undefined {
    if (this.expected === 'whole') {
      if (byte === (this.whole === 'list' ? OPEN_LIST : OPEN_OBJECT)) {
        this.enter(this.whole === 'list', at);
        return 'open';
      }
      this.fail(
        at,
        this.whole === 'list' ? 'a list was expected' : 'an object was expected',
        BEGINS_A_VALUE.test(String.fromCharCode(byte)) ? 'other kind' : 'syntax',
      );
      return undefined;
    }
    if (byte === CLOSE_LIST && this.expected === 'value or ]') return this.close(at, this.open.length === 1);
    if (this.open.length === 1) this.itemStart = this.base + at;
    if (byte === OPEN_LIST || byte === OPEN_OBJECT) this.enter(byte === OPEN_LIST, at);
    else if (byte === QUOTE) this.begin('string', false);
    else if (this.number.begin(byte)) this.begin('number', false);
    else if (LITERALS.has(byte)) this.beginWord(byte);
    else this.fail(at, VALUE_EXPECTED);
    return undefined;
  }

  private key(byte: number, at: number): ScanEvent | undefined {
    if (byte === CLOSE_OBJECT && this.expected === 'key or }') return this.close(at, this.open.length === 1);
    if (byte === QUOTE) {
      if (this.open.length === 1) this.keyStart = this.base + at;
      this.begin('string', true);
    } else this.fail(at, 'a key in double quotes was expected');
    return undefined;
  }

  private afterValue(byte: number, at: number): ScanEvent | undefined {
    const inList = this.open.at(-1) === true;
    if (byte === COMMA) {
      this.expected = inList ? 'value' : 'key';
      return this.open.length === 1 ? 'item' : undefined;
    }
    if (byte === (inList ? CLOSE_LIST : CLOSE_OBJECT)) return this.close(at, false);
    this.fail(at, this.expectedAfterValue());
    return undefined;
  }

  private expectedAfterValue(): string {
    if (this.open.length === 0) return `there is text after the ${this.whole}`;
    return `a comma or "${this.open.at(-1) === true ? ']' : '}'}" was expected`;
  }

  private enter(isList: boolean, at: number): void {
    if (this.open.length > this.maxDepth) {
      this.fail(at, `it nests deeper than ${this.maxDepth} levels`, 'too deep');
      return;
    }
    this.open.push(isList);
    this.expected = isList ? 'value or ]' : 'key or }';
  }

  private close(at: number, isEmpty: boolean): ScanEvent | undefined {
    this.open.pop();
    if (this.open.length === 0) {
      this.expected = 'nothing';
      return isEmpty ? 'empty' : 'last-item';
    }
    this.completed(at + 1);
    return undefined;
  }

  /** Records that a value or a key ends before `at`. */
  private completed(at: number): void {
    this.token = undefined;
    this.expected = this.isKey ? 'colon' : 'comma';
    if (this.open.length === 1) {
      if (this.isKey) this.keyEnd = this.base + at;
      else this.itemEnd = this.base + at;
    } else if (this.open.length === 0) this.expected = 'nothing';
    this.isKey = false;
  }

  private begin(token: Token, isKey: boolean): void {
    this.token = token;
    this.isKey = isKey;
  }

  private beginWord(byte: number): void {
    this.begin('literal', false);
    this.word = LITERALS.get(byte) ?? '';
    this.wordAt = 1;
  }

  private continueToken(piece: Buffer, at: number): number {
    if (this.token === 'string') return this.string(piece, at);
    if (this.token === 'number') return this.numberEnd(piece, at);
    return this.token === 'escape' ? this.escape(piece, at) : this.literal(piece, at);
  }

  private string(piece: Buffer, from: number): number {
    let at = from;
    while (at < piece.length && PLAIN[piece[at] ?? 0] === 1) at += 1;
    if (at === piece.length) return at;
    const byte = piece[at];
    if (byte === QUOTE) this.completed(at + 1);
    else if (byte === BACKSLASH) this.token = 'escape';
    else this.fail(at, 'a control character must be escaped');
    return at + 1;
  }

  private escape(piece: Buffer, at: number): number {
    const byte = piece[at] ?? 0;
    if (this.hexLeft > 0) {
      if (!HEX_DIGITS.has(byte)) this.fail(at, UNKNOWN_ESCAPE);
      this.hexLeft -= 1;
    } else if (byte === LOWER_U) this.hexLeft = HEX_LENGTH;
    else if (!SIMPLE_ESCAPES.has(byte)) this.fail(at, UNKNOWN_ESCAPE);
    if (this.hexLeft === 0) this.token = 'string';
    return at + 1;
  }

  private numberEnd(piece: Buffer, from: number): number {
    const at = this.number.read(piece, from);
    if (at === piece.length) return at;
    if (this.number.isComplete()) this.completed(at);
    else this.fail(at, 'the number is not complete');
    return at;
  }

  private literal(piece: Buffer, at: number): number {
    if (piece[at] !== this.word.charCodeAt(this.wordAt)) {
      this.fail(at, VALUE_EXPECTED);
      return at;
    }
    this.wordAt += 1;
    if (this.wordAt === this.word.length) this.completed(at + 1);
    return at + 1;
  }

  private require(holds: boolean, then: Expected, at: number, reason: string): void {
    if (holds) this.expected = then;
    else this.fail(at, reason);
  }

  private fail(at: number, reason: string, kind: ScanFault['kind'] = 'syntax'): void {
    const position = this.base + at;
    const token = this.tokenFault(position) ?? { position, reason };
    this.fault = { reason, kind, position, line: this.line, column: position - this.lineStart + 1, token };
  }

  /** The fault of a token that stops before `position`; undefined outside of tokens and for tokens that only lack their end. */
  private tokenFault(position: number): ScanFault['token'] | undefined {
    if (this.token === 'literal') return { position: position - this.wordAt, reason: VALUE_EXPECTED };
    if (this.token === 'escape') return { position: position - this.escapeLength(), reason: UNKNOWN_ESCAPE };
    if (this.token !== 'number' || this.number.isComplete()) return undefined;
    const reason = this.number.hasDigits() ? this.expectedAfterValue() : VALUE_EXPECTED;
    return { position: position - this.number.bytesTooMany(), reason };
  }

  /** Number of bytes of the escape so far. */
  private escapeLength(): number {
    return this.hexLeft === 0 ? 1 : 2 + HEX_LENGTH - this.hexLeft;
  }
}
