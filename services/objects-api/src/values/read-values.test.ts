import { readValue, readValues, requireName } from './read-values';

const problemsOf = (values: Record<string, unknown>, metadata?: Record<string, Record<string, unknown>>): string[] => {
  try {
    readValues({ values, ...(metadata ? { metadata_by_name: metadata } : {}) });
    return [];
  } catch (error) {
    expect(error).toMatchObject({ code: 'value_invalid' });
    return (error as { details: { problems: { message: string }[] } }).details.problems.map(({ message }) => message);
  }
};
const nested = (depth: number, inner: unknown): unknown => {
  let value = inner;
  for (let level = 0; level < depth; level += 1) value = { a: value };
  return value;
};

it('turns nested objects into dotted names', () => {
  const discount = { parameters: ['a'], formula: 'a * 2' };
  const values = {
    limits: { credit: 5000, debit: { daily: 1 } },
    'a.b': ['x', { deep: [1] }],
    on: true,
    discount: { $function: discount },
  };
  expect(readValues({ values, metadata_by_name: { on: { from: 'test' } } })).toEqual([
    { name: 'limits.credit', type: 'number', content: 5000 },
    { name: 'limits.debit.daily', type: 'number', content: 1 },
    { name: 'a.b', type: 'list', content: ['x', { deep: [1] }] },
    { name: 'on', type: 'boolean', content: true, metadata: { from: 'test' } },
    { name: 'discount', type: 'function', content: discount },
  ]);
});

it.each<[string, Record<string, unknown>, RegExp]>([
  ['null', { a: null }, /"a" is null/],
  ['an empty object', { a: { b: {} } }, /"a.b" is an empty object/],
  ['an empty name', { '': 1 }, /empty part/],
  ['an empty part', { 'a..b': 1 }, /empty part/],
  ['a blank part', { 'a. ': 1 }, /empty part/],
  ['a reserved part', { a: { $ref: 'b' } }, /begins with "\$"/],
  ['a control character', { 'a\u0000': 1 }, /control character/],
  ['a long name', { ['n'.repeat(513)]: 1 }, /longer than 512/],
  ['one name twice', { 'a.b': 1, a: { b: 2 } }, /given twice/],
  ['objects too deep', { a: nested(40, 1) }, /deeper than 32/],
  ['objects far too deep', { a: nested(5_000, 1) }, /deeper than 32/],
  ['lists too deep', { a: [nested(60, 1)] }, /deeper than 50/],
  ['a list with a reference', { a: [[{ $rb: 'globalValue', id: 'x' }]] }, /elsewhere than as an element/],
  ['a function without a formula', { a: { $function: { parameters: [] } } }, /lacks its "parameters"/],
  [
    'a function that does not parse',
    { a: { $function: { parameters: ['x'], formula: 'x +' } } },
    /cannot be called.*column/,
  ],
  [
    'a function of fields that it does not have',
    { a: { $function: { parameters: ['x'], formula: 'y' } } },
    /cannot be called.*y/,
  ],
])('refuses %s', (_what, values, message) => {
  expect(problemsOf(values)).toEqual([expect.stringMatching(message)]);
});

it('tells all faults at once, at most 100, and metadata of nothing', () => {
  expect(problemsOf({ a: null, b: 1, 'c.': 2 }, { d: {} })).toHaveLength(3);
  expect(problemsOf(Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`n${index}`, null])))).toHaveLength(
    100,
  );
});

it('reads names that objects have as names', () => {
  const values = JSON.parse('{"__proto__": {"constructor": 1}, "toString": 2}') as Record<string, unknown>;
  expect(readValues({ values }).map(({ name }) => name)).toEqual(['__proto__.constructor', 'toString']);
});

it('reads one value, which is no object', () => {
  expect(readValue('a', [1])).toEqual({ type: 'list', value: [1] });
  expect(() => readValue('a', { b: 1 })).toThrow(/values of their own/);
  expect(() => readValue('a', null)).toThrow(/is null/);
  expect(() => requireName('a.$b')).toThrow(/reserved/);
  expect(requireName('a b.ä')).toBeUndefined();
});
