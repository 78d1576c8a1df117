import fc from 'fast-check';
import { type ContentField } from './parsed-content';
import { readContent } from './read-content';

const read = (content: unknown): readonly ContentField[] => {
  const reading = readContent(JSON.stringify(content));
  if (!reading.ok) throw new Error(reading.problems[0]?.message);
  return reading.content.fields;
};
const enumsOf = (content: unknown): Record<string, unknown> =>
  Object.fromEntries(
    read(content).flatMap(({ key, members }) => (members ? [[key, members.map(({ value }) => value)]] : [])),
  );
const problemOf = (content: unknown): { path: string; message: string } | undefined => {
  const reading = readContent(typeof content === 'string' ? content : JSON.stringify(content));
  return reading.ok ? undefined : reading.problems[0];
};
const schema = (properties: object, more: object = {}): object => ({ type: 'object', properties, ...more });

describe('fields of a schema', () => {
  it('have types, names, places and whether they are required', () => {
    const fields = read(
      schema(
        {
          id: { type: 'integer', title: 'Number', description: 'Counted.' },
          born: { type: 'string', format: 'date' },
          seen: { type: ['null', 'string'], format: 'date-time' },
          open: { type: 'boolean' },
          address: schema({ city: { type: 'string' } }, { required: ['city'], title: 'Home address' }),
          lines: {
            type: 'array',
            items: schema({ kind: { enum: ['a', 'b'] }, inner: schema({ x: { type: 'number' } }) }),
          },
          any: {},
        },
        { required: ['id', 'address'] },
      ),
    );
    expect(fields.map(({ key, type, scope, required }) => [key, type, scope, required])).toEqual([
      ['id', 'number', 'root', true],
      ['born', 'date', 'root', false],
      ['seen', 'date', 'root', false],
      ['open', 'boolean', 'root', false],
      ['address', 'object', 'root', true],
      ['address.city', 'string', 'nested', true],
      ['lines', 'list', 'root', false],
      ['lines.kind', 'string', 'item', false],
      ['lines.inner', 'object', 'item', false],
      ['lines.inner.x', 'number', 'item', false],
      ['any', 'object', 'root', false],
    ]);
    expect(fields[0]).toMatchObject({ name: 'Number', description: 'Counted.', schemaPath: '/properties/id' });
    expect(fields[4]).toMatchObject({ derivedObjectName: 'HomeAddress' });
    expect(fields[7]).toMatchObject({ schemaPath: '/properties/lines/items/properties/kind' });
  });

  it.each<[string, object, Record<string, unknown>]>([
    ['nested', schema({ a: schema({ b: { enum: ['x', 'y'] } }) }), { 'a.b': ['x', 'y'] }],
    ['in elements', schema({ tags: { type: 'array', items: { enum: ['x'] } } }), { tags: ['x'] }],
    ['in elements of elements', schema({ a: { items: { items: { enum: [1] } } } }), { a: [1] }],
    ['at places of a tuple', schema({ a: { prefixItems: [{ enum: ['x'] }, { enum: ['y'] }] } }), { a: ['x', 'y'] }],
    ['at places of an old tuple', schema({ a: { items: [{ enum: ['x'] }, { enum: ['y'] }] } }), { a: ['x', 'y'] }],
    ['of mixed types', schema({ a: { enum: ['x', 1, true, 2.5] } }), { a: ['x', 1, true, 2.5] }],
    ['that allow null', schema({ a: { enum: ['x', null] } }), { a: ['x'] }],
    ['with what values cannot be', schema({ a: { enum: [{ b: 1 }, [1], 'x'] } }), { a: ['x'] }],
    ['with repetitions', schema({ a: { enum: ['x', 'x', 1, 1.0] } }), { a: ['x', 1] }],
    ['behind a reference', schema({ a: { $ref: '#/$defs/s' } }, { $defs: { s: { enum: ['x'] } } }), { a: ['x'] }],
    [
      'behind references',
      schema(
        { a: { $ref: '#/$defs/s' } },
        { $defs: { s: { $ref: '#/definitions/t' } }, definitions: { t: { const: 1 } } },
      ),
      { a: [1] },
    ],
    [
      'behind an escaped pointer',
      schema({ a: { $ref: '#/$defs/x~1y~0z%20' } }, { $defs: { 'x/y~z ': { enum: [1] } } }),
      { a: [1] },
    ],
    ['as constants', schema({ a: { oneOf: [{ const: 'x', title: 'X' }, { const: 'y' }] } }), { a: ['x', 'y'] }],
    ['of either', schema({ a: { anyOf: [{ enum: ['x'] }, { type: 'null' }] } }), { a: ['x'] }],
    ['of all', schema({ a: { allOf: [{ enum: ['x', 'y', 'z'] }, { enum: ['z', 'y'] }] } }), { a: ['y', 'z'] }],
    [
      'narrowed beside a reference',
      schema({ a: { $ref: '#/$defs/s', enum: ['x'] } }, { $defs: { s: { enum: ['x', 'y'] } } }),
      { a: ['x'] },
    ],
    [
      'of variants of the whole',
      { oneOf: [schema({ kind: { const: 'a' } }), schema({ kind: { const: 'b' } })] },
      { kind: ['a', 'b'] },
    ],
    [
      'of a condition',
      schema({ a: {} }, { if: {}, then: schema({ b: { enum: [1] } }), else: schema({ b: { enum: [2] } }) }),
      { b: [1, 2] },
    ],
    ['that are empty', schema({ a: { enum: [] } }), {}],
    [
      'where properties are called like keywords',
      schema({ enum: { enum: ['x'] }, $ref: { enum: ['y'] } }),
      { enum: ['x'], $ref: ['y'] },
    ],
  ])('lists enums %s', (_what, content, enums) => {
    expect(enumsOf(content)).toEqual(enums);
  });

  it('describes constants', () => {
    const [field] = read(schema({ a: { oneOf: [{ const: 'x', title: 'X', description: 'Ex.' }] } }));
    expect(field?.members).toEqual([{ value: 'x', title: 'X', description: 'Ex.' }]);
  });

  it('ends where a schema begins to repeat', () => {
    const node = schema({ kind: { enum: ['leaf'] }, children: { type: 'array', items: { $ref: '#/$defs/node' } } });
    expect(read({ $ref: '#/$defs/node', $defs: { node } }).map(({ key }) => key)).toEqual(['kind', 'children']);
    expect(read(schema({ a: { $ref: '#' } })).map(({ key }) => key)).toEqual(['a']);
    const loop = { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } };
    expect(read(schema({ x: { $ref: '#/$defs/a' } }, loop)).map(({ key }) => key)).toEqual(['x']);
  });

  it('keeps names that every object has', () => {
    const content = '{"type":"object","properties":{"__proto__":{"enum":["x"]},"constructor":{"type":"string"}}}';
    const reading = readContent(content);
    expect(reading).toMatchObject({ ok: true, content: { fields: [{ key: '__proto__' }, { key: 'constructor' }] } });
  });
});

describe('fields of data', () => {
  it('have the types of what they hold', () => {
    const fields = read({
      name: 'x',
      n: 1,
      on: true,
      none: null,
      list: [1, { deep: 'y' }, [{ deeper: 1 }]],
      in: { a: 1 },
    });
    expect(fields.map(({ key, type, scope }) => [key, type, scope])).toEqual([
      ['name', 'string', 'root'],
      ['n', 'number', 'root'],
      ['on', 'boolean', 'root'],
      ['none', 'object', 'root'],
      ['list', 'list', 'root'],
      ['list.deep', 'string', 'item'],
      ['list.deeper', 'number', 'item'],
      ['in', 'object', 'root'],
      ['in.a', 'number', 'nested'],
    ]);
    expect(fields.every(({ members }) => members === undefined)).toBe(true);
  });
});

it.each<[string, () => unknown, number]>([
  ['one long text', () => ({ a: 'x'.repeat(10_000_000) }), 1],
  ['a long list', () => ({ a: Array.from({ length: 150_000 }, (_, id) => ({ id, name: 'x'.repeat(40) })) }), 3],
  ['a long enum', () => schema({ a: { enum: Array.from({ length: 100_000 }, (_, id) => `${id} ${'x'.repeat(90)}`) } }), 1], // prettier-ignore
])('ten megabytes of %s are read', (_what, content, fields) => {
  expect(read(content())).toHaveLength(fields);
});

describe('the content of an object', () => {
  it.each<[string, unknown, RegExp, string]>([
    ['no JSON', '{"a":', /cannot be read: .*line 1, column/, ''],
    ['a number that a double changes', '{"a": 9007199254740993}', /held exactly/, ''],
    ['a list', [], /must be a JSON object/, ''],
    ['text', '"x"', /must be a JSON object/, ''],
    [
      'a reference to a URL',
      schema({ a: { $ref: 'https://example.com/s.json#/x' } }),
      /never fetched/,
      '/properties/a/$ref',
    ],
    ['a reference to a file', schema({ a: { $ref: 'file:///etc/passwd' } }), /never fetched/, '/properties/a/$ref'],
    ['a reference to an anchor', schema({ a: { $ref: '#here' } }), /no JSON pointer/, '/properties/a/$ref'],
    ['a reference that cannot be decoded', schema({ a: { $ref: '#/%' } }), /no JSON pointer/, '/properties/a/$ref'],
    ['a reference to nothing', schema({ a: { $ref: '#/$defs/b' } }), /names nothing/, '/properties/a/$ref'],
    [
      'a reference to what every object has',
      schema({ a: { $ref: '#/constructor' } }),
      /names nothing/,
      '/properties/a/$ref',
    ],
    ['a reference that is no text', schema({ a: { $ref: 5, type: 'string' } }), /must be text/, '/properties/a/$ref'],
    [
      'a dynamic reference',
      schema({ a: { $dynamicRef: '#x', type: 'string' } }),
      /not followed/,
      '/properties/a/$dynamicRef',
    ],
  ])('%s', (_what, content, message, path) => {
    expect(problemOf(content)).toEqual({ path, message: expect.stringMatching(message) });
  });

  it('is refused if it nests too deep, without running out of stack', () => {
    expect(problemOf(`${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`)?.message).toMatch(/nests deeper than 200/);
    const deep = (levels: number): object => (levels === 0 ? { enum: ['x'] } : schema({ a: deep(levels - 1) }));
    expect(problemOf(deep(31))).toBeUndefined();
    expect(problemOf(deep(32))?.message).toMatch(/Fields nest deeper than 31/);
  });

  it('is refused where references multiply each other', () => {
    const $defs: Record<string, object> = { d0: { enum: ['x'] } };
    for (let level = 1; level < 30; level += 1) {
      const inner = { $ref: `#/$defs/d${level - 1}` };
      $defs[`d${level}`] = { anyOf: [inner, { allOf: [inner, inner] }, inner] };
    }
    expect(problemOf(schema({ a: { $ref: '#/$defs/d29' } }, { $defs }))?.message).toMatch(/becomes too large/);
  });

  it('is refused where chains of references are too long', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }]),
    );
    expect(problemOf(schema({ a: { $ref: '#/$defs/d0' } }, { $defs: { ...$defs, d300: {} } }))?.message).toMatch(
      /Schemas nest deeper/,
    );
  });

  it('is refused if it has too many fields', () => {
    const properties = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`f${index}`, {}]));
    expect(problemOf(schema(properties))?.message).toMatch(/more than 10000 fields/);
  });
});

describe('laws', () => {
  const name = fc.string({ minLength: 1, maxLength: 8 });
  const { node } = fc.letrec((tie) => ({
    node: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.record({ enum: fc.array(fc.jsonValue({ maxDepth: 1 })) }),
      fc.record({ const: fc.jsonValue({ maxDepth: 1 }) }),
      fc.record({ $ref: fc.constantFrom('#', '#/$defs/a', '#/$defs/b', '#/nowhere', 'x.json') }),
      fc.record({ type: fc.constantFrom('string', 'array', 'object', 5, null) }),
      fc.record({ properties: fc.dictionary(name, tie('node')) }),
      fc.record({ items: tie('node') }),
      fc.record({ oneOf: fc.array(tie('node'), { maxLength: 3 }) }),
      fc.record({ allOf: fc.array(tie('node'), { maxLength: 3 }), anyOf: fc.array(tie('node'), { maxLength: 2 }) }),
      fc.jsonValue({ maxDepth: 2 }),
    ),
  }));

  it('any schema is read or refused, and each field is found once', () => {
    fc.assert(
      fc.property(fc.dictionary(name, node), node, node, (properties, a, b) => {
        const reading = readContent(JSON.stringify({ $schema: 'x', type: 'object', properties, $defs: { a, b } }));
        if (!reading.ok) return reading.problems.length > 0;
        const keys = reading.content.fields.map(({ key }) => key);
        return new Set(keys).size === keys.length;
      }),
      { numRuns: 500 },
    );
  });

  it('any text is read or refused', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => typeof readContent(text).ok === 'boolean'),
      { numRuns: 500 },
    );
  });

  it('a reference says what the schema behind it says', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.oneof(fc.string(), fc.integer(), fc.boolean()), { minLength: 1 }), (members) => {
        const direct = read(schema({ a: { enum: members } }))[0];
        const behind = read(schema({ a: { $ref: '#/$defs/m' } }, { $defs: { m: { enum: members } } }))[0];
        expect(behind).toEqual(direct);
      }),
    );
  });
});
