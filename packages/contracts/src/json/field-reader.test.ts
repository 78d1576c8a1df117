import fc from 'fast-check';
import { createFieldReader } from './field-reader';
import { hasOnlyExactNumbers, parseJson } from './parse-json';

const KEYS = ['a', 'b', 'long key', 'é'];

/** The result of the general parser for the text, limited to the keys; undefined if it is not an object. */
const parsed = (text: string): Record<string, unknown> | undefined => {
  const parsing = parseJson(text);
  if (!parsing.ok || typeof parsing.value !== 'object' || parsing.value === null || Array.isArray(parsing.value))
    return undefined;
  return Object.fromEntries(Object.entries(parsing.value).filter(([key]) => KEYS.includes(key)));
};

/** Reads the text as the middle one of three lines. */
const readLine = (
  text: string,
  reader = createFieldReader(KEYS, hasOnlyExactNumbers(text)),
): Readonly<Record<string, unknown>> | undefined => {
  const before = '{"a":"before"}\n';
  return reader(`${before}${text}\n{"b":"after"}`, before.length, before.length + text.length);
};

const asIs = (value: unknown): string => JSON.stringify(value);
const blanks = fc.constantFrom('', '', '', ' ', '\t', '\r ', '\n');
const key = fc.oneof(fc.constantFrom(...KEYS), fc.constantFrom('', '__proto__', 'constructor', 'c'), fc.string());
const numberText = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(asIs),
  fc.tuple(fc.nat(99_999_999), fc.stringMatching(/^\d{1,12}$/)).map(([whole, decimals]) => `${whole}.${decimals}`),
  fc.constantFrom('-0', '0.0', '-0.5', '1e5', '1E-7', '-1.5e+300', '1e400', '9007199254740993', '9007199254740992'),
  fc.constantFrom('999999999999999', '9999999999999999', '0.1234567890123456', '123456789012345.5', '.5', '01', '1.', '-', '+1', '1e', '0x1'),
  fc.stringMatching(/^-?\d{0,20}\.?\d{0,20}([eE][+-]?\d{0,3})?$/),
); // prettier-ignore
const stringText = fc.oneof(
  fc.string().map(asIs),
  fc.string({ unit: 'binary' }).map(asIs),
  fc.constantFrom('"\\u0041"', '"\\ud83d"', '"\\ud83d\\ude00"', '"😀"', '"\\n"', '"\u0001"', '"\\"', '"', '"\u2028"', '"\x7f"'),
); // prettier-ignore
const { value: valueText } = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    numberText,
    stringText,
    fc.constantFrom('true', 'false', 'null', 'tru', 'True', '', 'undefined'),
    tie('list'),
    tie('object'),
  ),
  list: fc
    .tuple(fc.array(tie('value'), { maxLength: 4 }), blanks)
    .map(([values, blank]) => `[${blank}${values.join(`${blank},`)}]`),
  object: fc
    .tuple(fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }), blanks)
    .map(
      ([members, blank]) =>
        `{${members.map(([name, text]) => `${asIs(name)}${blank}:${text}`).join(`,${blank}`)}${blank}}`,
    ),
}));
const objectText = fc
  .tuple(blanks, fc.array(fc.tuple(key, valueText), { maxLength: 6 }), blanks)
  .map(
    ([before, members, blank]) =>
      `${before}{${blank}${members.map(([name, text]) => `${asIs(name)}${blank}:${blank}${text}${blank}`).join(',')}}${blank}`,
  );

it('answers what the general parser answers, or nothing, for every kind of text', () => {
  let read = 0;
  const reader = createFieldReader(KEYS, false);
  fc.assert(
    fc.property(fc.oneof(objectText, valueText), (text) => {
      const fields = readLine(text, reader);
      if (fields === undefined) return;
      read += 1;
      expect(fields).toEqual(parsed(text));
      for (const value of Object.values(fields)) expect(typeof value === 'object' && value !== null).toBe(false);
    }),
    { numRuns: 5_000 },
  );
  expect(read).toBeGreaterThan(500);
});

it('answers nothing for text that the general parser refuses, whatever is cut, put in or changed', () => {
  const reader = createFieldReader(KEYS, false);
  fc.assert(
    fc.property(
      objectText,
      fc.nat(),
      fc.constantFrom('', '"', '{', '}', ']', ',', ':', '0', '-', '\\', 't', '\u0001', ' ', '\n', '.', 'e'),
      fc.nat(2),
      (json, at, put, cut) => {
        const position = at % (json.length + 1);
        const text = json.slice(0, position) + put + json.slice(position + cut);
        const fields = readLine(text, reader);
        if (fields !== undefined) expect(fields).toEqual(parsed(text));
      },
    ),
    { numRuns: 5_000 },
  );
});

it.each([
  ['{}', {}],
  [' {"a":1,"b":"x"}\r', { a: 1, b: 'x' }],
  ['{"a":-0}', { a: -0 }],
  ['{"a":1.10,"b":123456.789012}', { a: 1.1, b: 123456.789012 }],
  ['{"a":1e3,"b":-2.5E-3}', { a: 1000, b: -0.0025 }],
  ['{"a":0.1234567890123}', { a: 0.1234567890123 }],
  ['{"a":null,"b":true,"long key":false,"é":"😀"}', { a: null, b: true, 'long key': false, é: '😀' }],
  ['{"a":1,"c":{"a":[2,{"b":[]},{}],"x":"y"},"a":3}', { a: 3 }],
  ['{"__proto__":{"a":1},"b" : 2}', { b: 2 }],
  [`{"c":${'['.repeat(16)}${']'.repeat(16)},"a":1}`, { a: 1 }],
])('reads %s itself', (text, fields) => {
  expect(readLine(text)).toEqual(fields);
  expect(readLine(text)).toEqual(parsed(text));
});

it.each([
  ['an escape, wherever it is', '{"c":"\\n","a":1}'],
  ['a list under a key that it reads', '{"a":[]}'],
  ['an object under a key that it reads', '{"a":{}}'],
  ['deep nesting', `{"c":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
  ['a number that no double holds, in a part that it does not read', '{"c":9007199254740993}'],
  ['a number that overflows, deep in a part that it does not read', '{"c":[{"d":1e999}]}'],
  ['another value', '[1]'],
  ['nothing', ''],
  ['an object that ends in the next line', '{"a":1,'],
  ['text behind the object', '{"a":1} 2'],
])('leaves %s to the general parser', (_what, text) => {
  expect(readLine(text)).toBeUndefined();
});

it('does not mistake a key for the one that stood in its place before', () => {
  const reader = createFieldReader(KEYS, true);
  expect(readLine('{"a":1,"b":2}', reader)).toEqual({ a: 1, b: 2 });
  expect(readLine('{"b":1,"a":2}', reader)).toEqual({ a: 2, b: 1 });
  expect(readLine('{"c":1,"a" :2}', reader)).toEqual({ a: 2 });
  expect(readLine('{"ab":1,"b":2}', reader)).toEqual({ b: 2 });
});
