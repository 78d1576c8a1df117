import { managedValuesOf, type WantedValue } from './managed-values';
import { readContent } from './schema/read-content';

const valuesOf = (properties: object): { wanted: readonly WantedValue[]; messages: string[] } => {
  const reading = readContent(JSON.stringify({ type: 'object', properties }));
  if (!reading.ok) throw new Error(reading.problems[0]?.message);
  const { wanted, problems } = managedValuesOf(reading.content.fields);
  return { wanted, messages: problems.map(({ message }) => message) };
};

it('makes a collection for each enum field and a value for each member', () => {
  const { wanted } = valuesOf({
    order: { type: 'object', properties: { status: { enum: ['open', 7, false], description: 'Where it is.' } } },
    name: { type: 'string' },
  });
  const path = 'order.status';
  expect(wanted).toEqual([
    {
      path,
      member: '',
      name: path,
      type: 'list',
      content: ['open', 7, false],
      metadata: { description: 'Where it is.' },
    },
    { path, member: '"open"', name: 'order.status.open', type: 'string', content: 'open', metadata: {} },
    { path, member: '7', name: 'order.status.7', type: 'number', content: 7, metadata: {} },
    { path, member: 'false', name: 'order.status.false', type: 'boolean', content: false, metadata: {} },
  ]);
});

it('composes names, and leaves members as they are', () => {
  const { wanted } = valuesOf({ 'cafe\u0301': { enum: ['e\u0301'] } });
  expect(wanted.map(({ name, content }) => [name, content])).toEqual([
    ['café', ['e\u0301']],
    ['café.é', 'e\u0301'],
  ]);
});

it.each<[string, object, RegExp]>([
  ['a number and its text', { a: { enum: [1, '1'] } }, /Two values would be named "a.1"/],
  ['members that differ in composition', { a: { enum: ['é', 'e\u0301'] } }, /Two values/],
  ['a field like a member', { a: { enum: ['b'] }, 'a.b': { enum: ['c'] } }, /named "a.b"/],
  ['a control character', { a: { enum: ['x\u0001'] } }, /cannot have/],
  ['half a surrogate pair', { a: { enum: ['\ud800'] } }, /cannot have/],
  ['a long name', { a: { enum: ['x'.repeat(511)] } }, /longer than 512/],
])('refuses %s', (_what, properties, message) => {
  expect(valuesOf(properties).messages).toEqual([expect.stringMatching(message)]);
});

it('tells at most a hundred faults', () => {
  const members = Array.from({ length: 150 }, (_, index) => `${index}\n`);
  expect(valuesOf({ a: { enum: members } }).messages).toHaveLength(100);
});
