import { type Chunk } from './chunk-builder';
import { LineSplitter, ListSplitter, type Splitter } from './splitters';

import * as fc from 'fast-check';

const MIB = 1024 * 1024;
const LIMITS = {
  chunkBytes: 2 * MIB,
  chunkItems: 10_000,
  itemMaxBytes: 20 * MIB,
  bulkMaxItems: undefined,
  maxDepth: 100,
};

const split = (splitter: Splitter, body: string | Buffer, pieceBytes = Infinity): Chunk[] => {
  const bytes = Buffer.from(body); // a copy: the splitter writes to it
  const chunks: Chunk[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes)
    chunks.push(...splitter.write(Buffer.from(bytes.subarray(at, at + pieceBytes))));
  return [...chunks, ...splitter.end()];
};
const list = (body: string | Buffer, pieceBytes?: number, limits: Partial<typeof LIMITS> = {}) =>
  split(new ListSplitter({ ...LIMITS, ...limits }), body, pieceBytes);
const lines = (body: string | Buffer, pieceBytes?: number, limits: Partial<typeof LIMITS> = {}) =>
  split(new LineSplitter({ ...LIMITS, ...limits }), body, pieceBytes);

const inputsOf = (chunks: readonly Chunk[]): unknown[] =>
  chunks.flatMap(({ payload, count }) => {
    const inputs = payload.toString().split('\n');
    expect(inputs).toHaveLength(count);
    return inputs.map((text) => JSON.parse(text) as unknown);
  });

const codeOf = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
};

describe('a list', () => {
  it.each(['[]', ' [ ] ', '[\n]\n'])('%j has no inputs', (body) => {
    expect(list(body)).toEqual([]);
  });

  it('is divided into the values that JSON.parse finds, wherever the body is cut and however it is printed', () => {
    const values = fc.array(fc.jsonValue({ maxDepth: 4 }), { maxLength: 20 });
    const indents = fc.constantFrom(undefined, 1, '\t', '\r\n');
    fc.assert(
      fc.property(values, indents, fc.integer({ min: 1, max: 40 }), (value, indent, pieceBytes) => {
        const body =
          indent === '\r\n'
            ? JSON.stringify(value, null, 1).replaceAll('\n', '\r\n')
            : JSON.stringify(value, null, indent);
        expect(inputsOf(list(body, pieceBytes))).toEqual(JSON.parse(body));
      }),
      { numRuns: 500 },
    );
  });

  it('agrees with JSON.parse on what is JSON, whichever byte is changed', () => {
    const body = '[{"a\\u00e9\\n":-1.5e+3,"b":[true,false,null,{}]},"x",[0,10.25E-1],[]]';
    const bytes = fc.constantFrom(...'[]{}",:\\/ \n\t0123456789-+.eEutfnarls\u0000\u001f');
    fc.assert(
      fc.property(fc.nat(body.length - 1), bytes, fc.integer({ min: 1, max: 80 }), (at, byte, pieceBytes) => {
        const changed = `${body.slice(0, at)}${byte}${body.slice(at + 1)}`;
        let value: unknown;
        try {
          value = JSON.parse(changed);
        } catch {
          expect(codeOf(() => list(changed, pieceBytes))).toMatchObject({
            code: expect.stringMatching(/^invalid_(json|request)$/),
          });
          return;
        }
        if (Array.isArray(value)) expect(inputsOf(list(changed, pieceBytes))).toEqual(value);
      }),
      { numRuns: 3_000 },
    );
  });

  it.each([
    ['', 'invalid_json', { position: 0, line: 1, column: 1 }],
    ['[1,2', 'invalid_json', { position: 4, index: 1 }],
    ['[1,]', 'invalid_json', { position: 3, index: 1 }],
    ['[1,\n2,\n nul]', 'invalid_json', { position: 11, line: 3, column: 5, index: 2 }],
    ['[{"a":1},{"a":}]', 'invalid_json', { position: 14, index: 1 }],
    ['[1] 2', 'invalid_json', { position: 4 }],
    ['[01]', 'invalid_json', { position: 2 }],
    ['[1.]', 'invalid_json', { position: 3 }],
    ['["\u0001"]', 'invalid_json', { position: 2 }],
    ['["\\x"]', 'invalid_json', { position: 3 }],
    ['["\\u12g4"]', 'invalid_json', { position: 6 }],
    ['<a/>', 'invalid_json', { position: 0 }],
    ['{"a":1}', 'invalid_request', {}],
    ['7', 'invalid_request', {}],
  ])('%j is refused with %s', (body, code, details) => {
    for (const pieceBytes of [1, 3, 1_000]) {
      expect(codeOf(() => list(body, pieceBytes))).toMatchObject({ code, details });
    }
  });

  it('is refused with the index of the input that is not UTF-8', () => {
    const body = Buffer.concat([Buffer.from('["é","'), Buffer.from([0xff]), Buffer.from('"]')]);
    expect(codeOf(() => list(body))).toMatchObject({ code: 'invalid_json', details: { index: 1 } });
  });

  it('may nest to the bound and no deeper', () => {
    const nested = (levels: number) => `[1,${'['.repeat(levels)}${']'.repeat(levels)}]`;
    expect(list(nested(100))).toHaveLength(1);
    expect(codeOf(() => list(nested(101)))).toMatchObject({ code: 'invalid_request', details: { index: 1 } });
    expect(codeOf(() => list(`[${'['.repeat(200_000)}`))).toMatchObject({ code: 'invalid_request' });
  });
});

describe('lines', () => {
  it.each([
    ['', []],
    ['\n \n\r\n', []],
    ['{"a":1}\n{"a":2}', [{ a: 1 }, { a: 2 }]],
    ['{"a":1}\r\n\n{"a":2}\r\n', [{ a: 1 }, { a: 2 }]],
  ])('%j hold the inputs %j', (body, inputs) => {
    for (const pieceBytes of [1, 2, 3, 100]) expect(inputsOf(lines(body, pieceBytes))).toEqual(inputs);
  });

  it('keep what is not JSON for the worker to refuse in its slot', () => {
    expect(lines('{"a":1}\nnonsense\n{}')[0]?.payload.toString()).toBe('{"a":1}\nnonsense\n{}');
  });
});

describe.each([
  ['a list', (items: readonly string[]) => `[${items.join(',')}]`, list],
  ['lines', (items: readonly string[]) => items.join('\n'), lines],
] as const)('the limits of %s', (_what, print, divide) => {
  const text = (bytes: number) => `"${'x'.repeat(bytes - 2)}"`;

  it('lets an input of the largest size pass, and names the index of one byte more', () => {
    expect(divide(print(['1', text(1_000)]), 64, { itemMaxBytes: 1_000 })).toHaveLength(1);
    for (const pieceBytes of [64, 10_000]) {
      expect(codeOf(() => divide(print(['1', text(1_001), '2']), pieceBytes, { itemMaxBytes: 1_000 }))).toMatchObject({
        code: 'payload_too_large',
        details: { index: 1, limit_bytes: 1_000, limit_name: 'ITEM_MAX_BYTES' },
      });
    }
  });

  it('refuses an endless input before it ends', () => {
    const splitter =
      divide === list
        ? new ListSplitter({ ...LIMITS, itemMaxBytes: 1_000 })
        : new LineSplitter({ ...LIMITS, itemMaxBytes: 1_000 });
    expect(
      codeOf(() => splitter.write(Buffer.from(`${divide === list ? '[' : ''}"${'x'.repeat(2_000)}`))),
    ).toMatchObject({
      code: 'payload_too_large',
    });
  });

  it('lets as many inputs pass as the operator allows, and refuses one more', () => {
    const bulkMaxItems = 3 as unknown as undefined; // undefined by the limits of this file
    expect(divide(print(['1', '2', '3']), 2, { bulkMaxItems })[0]?.count).toBe(3);
    expect(codeOf(() => divide(print(['1', '2', '3', '4']), 2, { bulkMaxItems }))).toMatchObject({
      code: 'too_many_items',
      details: { limit_items: 3, limit_name: 'BULK_MAX_ITEMS' },
    });
  });

  it('keeps chunks within their bounds, and gives a larger input one of its own', () => {
    const items = Array.from({ length: 5_000 }, (_, index) =>
      index === 2_500 ? text(3 * MIB) : text(1_000 + (index % 7)),
    );
    const chunks = divide(print(items), 65_536);
    expect(inputsOf(chunks)).toEqual(items.map((item) => JSON.parse(item) as unknown));
    for (const { payload, count } of chunks) if (count > 1) expect(payload.length).toBeLessThanOrEqual(2 * MIB);
    expect(chunks.some(({ payload, count }) => count === 1 && payload.length === 3 * MIB)).toBe(true);
    expect(chunks.map(({ firstIndex }) => firstIndex)).toEqual(
      chunks.map((_, at) => chunks.slice(0, at).reduce((sum, { count }) => sum + count, 0)),
    );
    expect(
      divide(print(Array.from({ length: 25_000 }, () => '1')), 65_536, { chunkItems: 10_000 }).map(
        ({ count }) => count,
      ),
    ).toEqual([10_000, 10_000, 5_000]);
  });
});
