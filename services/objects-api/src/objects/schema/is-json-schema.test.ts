import { isJsonSchema } from './is-json-schema';

it.each<[string, Record<string, unknown>]>([
  ['$schema', { $schema: 'https://json-schema.org/draft/2020-12/schema' }],
  ['type and properties', { type: 'object', properties: { a: { type: 'string' } } }],
  ['type object and no properties yet', { type: 'object', properties: {} }],
  ['properties of schemas without a type', { properties: { a: { enum: [1] }, b: { $ref: '#' }, c: true, d: {} } }],
  ['an array of schemas', { type: 'array', items: { type: 'string' } }],
  ['a reference beside definitions', { $ref: '#/$defs/a', $defs: { a: { type: 'object' } } }],
  ['a reference beside old definitions', { $ref: '#/definitions/a', definitions: { a: {} } }],
  ['alternatives', { oneOf: [{ type: 'object' }, { properties: { a: {} } }] }],
  ['combined schemas', { allOf: [{ $ref: '#/$defs/a' }] }],
  ['type and properties that are only described', { type: 'object', properties: { a: { description: 'A.' } } }],
  ['several types', { properties: { a: { type: ['string', 'null'] } } }],
])('takes %s for a schema', (_what, content) => {
  expect(isJsonSchema(content)).toBe(true);
});

it.each<[string, Record<string, unknown>]>([
  ['an empty object', {}],
  ['data', { name: 'Ann', age: 5 }],
  ['a type of something else', { type: 'parcel', properties: { weight: 5 } }],
  ['the type "object" alone', { type: 'object', name: 'vase' }],
  ['properties that are data', { type: 'object', properties: { colour: 'red' } }],
  ['properties of which one is data', { properties: { a: { type: 'string' }, colour: { shade: 'red' } } }],
  ['empty properties without a type', { properties: {} }],
  ['a list of data', { oneOf: ['a', 'b'] }],
  ['an empty list', { anyOf: [] }],
  ['a $schema that is no text', { $schema: 5 }],
  ['a reference without definitions', { $ref: '#/a', a: 1 }],
  ['an enum of its own', { enum: ['a'] }],
  ['types that are none', { properties: { a: { type: ['parcel'] } } }],
])('takes %s for data', (_what, content) => {
  expect(isJsonSchema(content)).toBe(false);
});

it('is not fooled by names that every object has', () => {
  expect(isJsonSchema(JSON.parse('{"__proto__": {"$schema": "x", "properties": {}}}') as Record<string, unknown>)).toBe(
    false,
  );
});
