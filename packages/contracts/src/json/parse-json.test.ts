import fc from 'fast-check';
import { JsonScanner } from './json-scanner';
import { parseJson } from './parse-json';
import { findSyntaxFault } from './syntax-fault';

const problemOf = (text: string) => {
  const parsing = parseJson(text);
  if (parsing.ok) throw new Error(`"${text}" parsed`);
  return parsing.problem;
};

describe('parseJson', () => {
  it('answers the value of sound text', () => {
    expect(parseJson('{"a":[1,-2.5e3,"x",null,true]}')).toEqual({
      ok: true,
      value: { a: [1, -2500, 'x', null, true] },
    });
  });

  it.each([
    ['{"a":1', 6, 1, 7],
    ['', 0, 1, 1],
    ['   ', 3, 1, 4],
    ['{"a":tru}', 5, 1, 6],
    ['{"a":1,}', 7, 1, 8],
    ['{a:1}', 1, 1, 2],
    ['[1 2]', 3, 1, 4],
    ['[01]', 2, 1, 3],
    ['"\\x"', 1, 1, 2],
    ['"a\nb"', 2, 1, 3],
    ['{"a" 1}', 5, 1, 6],
    ['\u00a01', 0, 1, 1],
    ['{\n  "a": 1,\n  "b": }\n', 19, 3, 8],
    ['[1,2,]', 5, 1, 6],
    ['{"a":1}}', 7, 1, 8],
  ])('names the position of the fault in %j', (text, position, line, column) => {
    expect(problemOf(text)).toMatchObject({ kind: 'syntax', position, line, column });
  });

  it.each([
    ['a string of 12 million characters', `["${'a'.repeat(12_000_000)}", `],
    ['12 million backslashes', `["${'\\'.repeat(12_000_000)}", `],
    ['a million strings that end in a backslash', `[${'"\\\\",'.repeat(1_000_000)}`],
    ['a million escaped quotes', `["${'\\"'.repeat(1_000_000)}", `],
  ])('finds an inexact number behind %s', (_, before) => {
    expect(problemOf(`${before}9007199254740993]`)).toMatchObject({ kind: 'number', position: before.length });
    expect(parseJson(`${before}9007199254740992]`).ok).toBe(true);
  });

  it('finds no number within a string', () => {
    for (const text of ['"9007199254740993"', '"\\"9007199254740993"', '"\\\\\\"9007199254740993 "'])
      expect(parseJson(`[${text}, 1]`).ok).toBe(true);
    expect(parseJson('["\\\\", 9007199254740993]').ok).toBe(false);
  });

  it('never quotes the text, which may hold secrets', () => {
    expect(JSON.stringify(problemOf('{"password": hunter2}'))).not.toContain('hunter2');
  });

  it.each(['9007199254740993', '12345678901234567890', '1e400', '-1e999', '{"a":{"b":[9007199254740993]}}'])(
    'refuses %s, which a double cannot hold',
    (text) => {
      expect(problemOf(text)).toMatchObject({ kind: 'number', position: text.search(/-?\d/) });
    },
  );

  it.each([
    '9007199254740991',
    '9007199254740992',
    '100000000000000000000',
    '33724120922608310',
    '-33724120922608310',
    '0.1',
    '0.30000000000000004',
    '"9007199254740993"',
    '{"id":"12345678901234567890 \\" 9007199254740993"}',
    '1e308',
  ])('accepts %s', (text) => {
    expect(parseJson(text).ok).toBe(true);
  });

  it('keeps __proto__ as a plain key and leaves prototypes alone', () => {
    const parsing = parseJson('{"__proto__":{"admin":true}}');
    expect(parsing.ok && Object.getPrototypeOf(parsing.value)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
  });

  it('survives text nested 10,000 deep', () => {
    expect(parseJson(`${'['.repeat(10_000)}${']'.repeat(10_000)}`).ok).toBe(true);
  });
});

/** The fault of a list for a reader of pieces, such as the gateway. */
const faultOfList = (text: string, pieceBytes: number) => {
  const scanner = new JsonScanner('list', 100);
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    const piece = Buffer.from(bytes.subarray(start, start + pieceBytes));
    for (let at = 0; at < piece.length && scanner.fault === undefined;) at = scanner.scan(piece, at);
    scanner.endPiece(piece);
  }
  if (scanner.fault === undefined) scanner.end();
  return scanner.fault;
};

const ENDED = 'the text ends too early';
const NO_VALUE = 'a value was expected';
const NO_COMMA = 'a comma or "]" was expected';
const ESCAPE = 'the escape is unknown';
const INCOMPLETE = 'the number is not complete';

describe('the position of a fault, in text as a whole and in pieces of a list', () => {
  /** Text, the fault for a reader of the whole, and the fault for a reader of pieces if it differs. */
  it.each<[string, [number, string], [number, string]?]>([
    ['[1,2', [4, ENDED]],
    ['[1,]', [3, NO_VALUE]],
    ['[1,\n x]', [5, NO_VALUE]],
    ['[1 2]', [3, NO_COMMA]],
    ['[01]', [2, NO_COMMA]],
    ['[{"a" 1}]', [6, 'a colon was expected']],
    ['[{"a":1,}]', [8, 'a key in double quotes was expected']],
    ['[{"a":1]', [7, 'a comma or "}" was expected']],
    ['["a\nb"]', [3, 'a control character must be escaped']],
    ['["a', [3, ENDED]],
    ['[1] 2', [4, 'there is text after the value'], [4, 'there is text after the list']],
    ['[tru]', [1, NO_VALUE], [4, NO_VALUE]],
    ['[nul', [1, NO_VALUE], [4, ENDED]],
    ['["a\\x"]', [3, ESCAPE], [4, ESCAPE]],
    ['["\\u12g4"]', [2, ESCAPE], [6, ESCAPE]],
    ['["\\', [2, ESCAPE], [3, ENDED]],
    ['["\\u12', [2, ESCAPE], [6, ENDED]],
    ['[-]', [1, NO_VALUE], [2, INCOMPLETE]],
    ['[-', [1, NO_VALUE], [2, ENDED]],
    ['[12.]', [3, NO_COMMA], [4, INCOMPLETE]],
    ['[12.5e]', [5, NO_COMMA], [6, INCOMPLETE]],
    ['[12.5e+]', [5, NO_COMMA], [7, INCOMPLETE]],
    ['[12.5e+', [5, NO_COMMA], [7, ENDED]],
  ])('is fixed for %j', (text, [position, reason], inPieces = [position, reason]) => {
    expect(findSyntaxFault(text)).toEqual({ position, reason });
    for (const pieceBytes of [1, 3, 100])
      expect(faultOfList(text, pieceBytes)).toMatchObject({ position: inPieces[0], reason: inPieces[1] });
  });
});

describe('findSyntaxFault', () => {
  it.each([
    ['-', 0, NO_VALUE],
    ['1.', 1, 'there is text after the value'],
    ['1e', 1, 'there is text after the value'],
    ['tru', 0, NO_VALUE],
    ['true false', 5, 'there is text after the value'],
  ])('finds the fault of %j, which is neither list nor object', (text, position, reason) => {
    expect(findSyntaxFault(text)).toEqual({ position, reason });
  });

  it.each(['12', '-1.5e3', ' true ', '"a"', '[]'])('finds none in %j', (text) => {
    expect(findSyntaxFault(text)).toBeUndefined();
  });

  it('counts characters, not bytes', () => {
    expect(findSyntaxFault('["é", "😀", "\ud800", x]')?.position).toBe('["é", "😀", "\ud800", '.length);
  });

  it('finds a fault exactly where the platform finds one, whatever is cut, put in or changed', () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.nat(),
        fc.constantFrom('', '"', '{', ']', ',', ':', '0', '-', '\\\\', 't', '\\u0001', ' '),
        fc.nat(2),
        (json, at, text, cut) => {
          const position = at % (json.length + 1);
          const changed = json.slice(0, position) + text + json.slice(position + cut);
          const fault = findSyntaxFault(changed);
          expect(fault === undefined).toBe(isJson(changed));
          if (fault && fault.position < changed.length)
            expect(isJsonPrefix(changed.slice(0, fault.position))).toBe(true);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** Whether a text has no fault except a premature end. */
const isJsonPrefix = (text: string): boolean => {
  const fault = findSyntaxFault(text);
  return fault === undefined || fault.position >= text.length;
};
