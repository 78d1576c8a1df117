/** State within a number: `rest` accepts more, `open` requires more. */
type NumberState = 'minus' | 'zero' | 'integer' | 'point' | 'fraction' | 'exponent' | 'sign' | 'power';

const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const UPPER_E = 0x45;
const LOWER_E = 0x65;

/** States in which the number may end. */
const COMPLETE: ReadonlySet<NumberState> = new Set(['zero', 'integer', 'fraction', 'power']);

/** Next state after a digit; undefined if no digit is allowed. */
const AFTER_DIGIT: Readonly<Record<NumberState, NumberState | undefined>> = {
  minus: 'integer',
  zero: undefined,
  integer: 'integer',
  point: 'fraction',
  fraction: 'fraction',
  exponent: 'power',
  sign: 'power',
  power: 'power',
};

const isDigit = (byte: number): boolean => byte >= DIGIT_0 && byte <= DIGIT_9;

/** Follows a JSON number byte by byte, across pieces of a body. */
export class NumberReader {
  private state: NumberState = 'minus';

  /** Whether a number can start with this byte; if so, starts it. */
  begin(byte: number): boolean {
    if (byte !== MINUS && !isDigit(byte)) return false;
    this.state = byte === MINUS ? 'minus' : firstDigit(byte);
    return true;
  }

  /** Reads the bytes of the number from `at` on and returns its end, which may be the end of the piece. */
  read(bytes: Buffer, at: number): number {
    let position = at;
    for (; position < bytes.length; position += 1) {
      const next = this.after(bytes[position] ?? 0);
      if (next === undefined) return position;
      this.state = next;
    }
    return position;
  }

  /** Whether the bytes read are a complete number literal. */
  isComplete(): boolean {
    return COMPLETE.has(this.state);
  }

  /** Whether the bytes read start with a complete number literal. */
  hasDigits(): boolean {
    return this.state !== 'minus';
  }

  /** Number of bytes read after the longest complete number literal, or of all bytes read if there is none. */
  bytesTooMany(): number {
    if (this.isComplete()) return 0;
    return this.state === 'sign' ? 2 : 1;
  }

  private after(byte: number): NumberState | undefined {
    const { state } = this;
    if (isDigit(byte)) return state === 'minus' ? firstDigit(byte) : AFTER_DIGIT[state];
    if (byte === POINT) return state === 'zero' || state === 'integer' ? 'point' : undefined;
    if (byte === LOWER_E || byte === UPPER_E) {
      return state === 'zero' || state === 'integer' || state === 'fraction' ? 'exponent' : undefined;
    }
    return (byte === PLUS || byte === MINUS) && state === 'exponent' ? 'sign' : undefined;
  }
}

const firstDigit = (byte: number): NumberState => (byte === DIGIT_0 ? 'zero' : 'integer');
