import { findUtf8Fault, MAX_JSON_DEPTH, parseJsonBody, tooDeepAt } from './json-body';

import fc from 'fast-check';

const parse = (body: string | Buffer): unknown => parseJsonBody(Buffer.isBuffer(body) ? body : Buffer.from(body));
const fault = (body: string | Buffer): Record<string, unknown> => {
  try {
    parse(body);
  } catch (error) {
    const { code, message, details } = error as { code: string; message: string; details: object };
    return { code, message, ...details };
  }
  return { code: 'none' };
};

it('reads everything that JSON.stringify writes', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) =>
      expect(parse(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value))),
    ),
  );
});

it('drops a byte order mark, and keeps a key named __proto__', () => {
  expect(parse('\uFEFF{"a":1}')).toEqual({ a: 1 });
  const value = parse('{"__proto__":{"x":1}}') as Record<string, unknown>;
  expect(Object.keys(value)).toEqual(['__proto__']);
  expect(value['x']).toBeUndefined();
});

it.each([
  ['{"a":1,}', { code: 'invalid_json', position: 7, line: 1, column: 8 }],
  ['{\n  "a": 01\n}', { code: 'invalid_json', line: 2 }],
  ['   ', { code: 'invalid_json', position: 0, message: 'The body is empty; this call needs JSON.' }],
  ['[1,\n 9007199254740993]', { code: 'number_out_of_range', position: 5, line: 2, column: 2 }],
  ['1e400', { code: 'number_out_of_range', position: 0 }],
  ['["9007199254740993", 9007199254740992, 0.1]', { code: 'none' }],
])('finds the fault of %j', (body, found) => {
  expect(fault(body)).toMatchObject(found);
});

describe('bytes that are not UTF-8', () => {
  it.each<[string, Buffer, number]>([
    ['at the start', Buffer.from([0xff]), 0],
    ['behind two lines of text', Buffer.concat([Buffer.from('"é\n€'), Buffer.from([0xc3, 0x28])]), 4],
    ['behind a real replacement character', Buffer.concat([Buffer.from('"\uFFFD'), Buffer.from([0x80])]), 2],
    ['where a surrogate is encoded', Buffer.concat([Buffer.from('"ab'), Buffer.from([0xed, 0xa0, 0x80])]), 3],
    ['where a character is cut off', Buffer.from('"€').subarray(0, 3), 1],
  ])('are found %s', (_where, bytes, position) => {
    expect(fault(bytes)).toMatchObject({
      code: 'invalid_json',
      position,
      message: expect.stringMatching(/byte 0x[0-9a-f]{2}/),
    });
  });

  it('are found behind a million replacement characters, in one pass', () => {
    const bytes = Buffer.concat([Buffer.from('\uFFFD'.repeat(1_000_000)), Buffer.from([0xff])]);
    expect(findUtf8Fault(bytes)).toMatchObject({ position: 1_000_000, byte: 0xff });
  });
});

describe('nesting', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

  it('is accepted up to the limit and refused beyond it', () => {
    expect(fault(nested(MAX_JSON_DEPTH))).toEqual({ code: 'none' });
    expect(fault(nested(MAX_JSON_DEPTH + 1))).toMatchObject({ code: 'invalid_request', position: MAX_JSON_DEPTH });
    expect(fault('{"a":'.repeat(2_000) + '1' + '}'.repeat(2_000))).toMatchObject({ code: 'invalid_request' });
  });

  it('is refused at a million levels as well', () => {
    expect(fault(nested(1_000_000))).toMatchObject({ code: 'invalid_request' });
  });

  it('counts no bracket inside a text, and no quote after a backslash', () => {
    expect(tooDeepAt('["[[[[[[", "\\"[[[[", "\\\\"]', 1)).toBe(-1);
    expect(tooDeepAt('["\\\\", [[]]]', 2)).toBe(8);
  });

  it('is the depth that a walk over the value finds', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 6 }), (value, limit) => {
        const text = JSON.stringify(value);
        expect(tooDeepAt(text, limit) >= 0).toBe(depthOf(JSON.parse(text)) > limit);
      }),
    );
  });
});
