/** Position at which text stops being JSON. */
interface SyntaxFault {
  /** Characters from 0; the length of the text where it ends too early. */
  readonly position: number;
  readonly reason: string;
}

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const PLAIN_CHARACTERS = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const LITERALS = ['true', 'false', 'null'];

/**
 * Finds the first place at which text that is known not to be JSON goes wrong. One pass, no recursion: nesting depth is bounded
 * by memory only. Answers undefined for text that is JSON after all.
 */
export const findSyntaxFault = (text: string): SyntaxFault | undefined => new Scanner(text).scan();

/** The next token that the grammar allows. */
type Expectation = 'value' | 'value or ]' | 'key' | 'key or }' | 'after value';

class Scanner {
  private position = 0;
  private expected: Expectation = 'value';
  /** Closing characters of what is open, innermost last. */
  private readonly open: ('}' | ']')[] = [];

  constructor(private readonly text: string) {}

  scan(): SyntaxFault | undefined {
    for (;;) {
      this.take(SPACE);
      if (this.expected === 'after value' && this.open.length === 0) {
        return this.position === this.text.length ? undefined : this.fault('there is text after the value');
      }
      const fault = this.step();
      if (fault) return fault;
    }
  }

  private step(): SyntaxFault | undefined {
    if (this.expected === 'after value') return this.afterValue();
    if (this.expected === 'key' || this.expected === 'key or }') return this.key();
    return this.value();
  }

  private value(): SyntaxFault | undefined {
    const next = this.text[this.position];
    if (next === ']' && this.expected === 'value or ]') return this.close();
    if (next === '{') return this.enter('}', 'key or }');
    if (next === '[') return this.enter(']', 'value or ]');
    if (next === '"') return this.string('after value');
    if (this.literal() || this.take(NUMBER) > 0) {
      this.expected = 'after value';
      return undefined;
    }
    return this.fault('a value was expected');
  }

  private literal(): boolean {
    const literal = LITERALS.find((candidate) => this.text.startsWith(candidate, this.position));
    this.position += literal?.length ?? 0;
    return literal !== undefined;
  }

  private key(): SyntaxFault | undefined {
    const next = this.text[this.position];
    if (next === '}' && this.expected === 'key or }') return this.close();
    if (next !== '"') return this.fault('a key in double quotes was expected');
    const fault = this.string('value');
    if (fault) return fault;
    this.take(SPACE);
    if (this.text[this.position] !== ':') return this.fault('a colon was expected');
    this.position += 1;
    return undefined;
  }

  private afterValue(): SyntaxFault | undefined {
    const closing = this.open.at(-1);
    const next = this.text[this.position];
    if (next === closing) return this.close();
    if (next !== ',') return this.fault(`a comma or "${String(closing)}" was expected`);
    this.position += 1;
    this.expected = closing === '}' ? 'key' : 'value';
    return undefined;
  }

  private string(then: Expectation): SyntaxFault | undefined {
    this.position += 1;
    do this.take(PLAIN_CHARACTERS);
    while (this.take(ESCAPE) > 0);
    const next = this.text[this.position];
    if (next === '"') {
      this.position += 1;
      this.expected = then;
      return undefined;
    }
    return this.fault(next === '\\' ? 'the escape is unknown' : 'a control character must be escaped');
  }

  private enter(closing: '}' | ']', then: Expectation): undefined {
    this.position += 1;
    this.open.push(closing);
    this.expected = then;
  }

  private close(): undefined {
    this.position += 1;
    this.open.pop();
    this.expected = 'after value';
  }

  /** Moves past what the pattern matches here and answers how long that is. */
  private take(pattern: RegExp): number {
    pattern.lastIndex = this.position;
    const length = pattern.exec(this.text)?.[0].length ?? 0;
    this.position += length;
    return length;
  }

  private fault(reason: string): SyntaxFault {
    const ended = this.position >= this.text.length;
    return { position: this.position, reason: ended ? 'the text ends too early' : reason };
  }
}
