import { type ParsedField, type RuleField } from '@decision/contracts';
import { SourceObjects, sourceOf } from './field-sources';
import { driftOf } from './rule-drift';

const id = '5c0a8c0e-7a53-4f0e-9d9e-0d2c8b1f6a11';
const parsed = (key: string, type: ParsedField['type']): ParsedField => ({
  ...{ key, name: key, description: null, type, scope: 'root', required: false },
  schemaPath: `/${key}`,
});
const objects = new SourceObjects([
  {
    id,
    name: 'Order',
    parsedFields: [parsed('status', 'string'), parsed('cafe\u0301', 'number')],
  },
]);
const field = (key: string, type: RuleField['type'], source: unknown): RuleField => ({ key, type, source });
const drift = (request: RuleField[], response: RuleField[] = []) =>
  driftOf({ requestSchema: request, responseSchema: response }, objects, []);

it.each<[string, RuleField]>([
  ['of the same type', field('status', 'string', { object: id })],
  ['under another key', field('state', 'string', { object: id, field: 'status' })],
  ['by name', field('status', 'string', { object: 'Order' })],
  ['by the name beside an id of another workspace', field('status', 'string', { object: 'gone', name: 'Order' })],
  ['by an id in capitals', field('status', 'string', { object: id.toUpperCase() })],
  ['of a name composed otherwise', field('café', 'number', { object: id })],
  ['of a formula', field('status', 'function', { object: id })],
  ['without a source', field('other', 'date', undefined)],
  ['with a source of another kind', field('other', 'date', 'context')],
  ['with a source that only resembles one', field('other', 'date', { object: 5 })],
])('a field %s has not drifted', (_what, unchanged) => {
  expect(drift([unchanged], [unchanged])).toEqual([]);
});

it('tells what is missing or of another type, in the order of the fields', () => {
  const fields = [
    field('status', 'number', { object: id }),
    field('toString', 'string', { object: id }),
    field('x', 'string', { object: 'Nothing' }),
  ];
  expect(drift(fields, [field('status', 'list', { object: id })])).toEqual([
    {
      kind: 'type_changed',
      message: 'The field "status" of the object "Order" is of type string; the rule expects number.',
      side: 'request',
      key: 'status',
      field: 'status',
      object: { id, name: 'Order' },
      rule_type: 'number',
      object_type: 'string',
    },
    {
      kind: 'field_missing',
      message: 'The object "Order" has no field "toString" any more.',
      side: 'request',
      key: 'toString',
      field: 'toString',
      object: { id, name: 'Order' },
    },
    expect.objectContaining({ kind: 'object_missing', key: 'x', object: { id: 'Nothing', name: 'Nothing' } }),
    expect.objectContaining({ kind: 'type_changed', side: 'response', rule_type: 'list' }),
  ]);
});

it('tells values that an object no longer has', () => {
  const use = { ruleId: 'r', valueId: 'v', name: 'status.paid' };
  const uses = [
    { ...use, object: { id, name: 'Order' } },
    { ...use, object: undefined },
  ];
  expect(driftOf({ requestSchema: [], responseSchema: [] }, objects, uses)).toEqual([
    {
      kind: 'value_archived',
      message: 'The rule uses the value "status.paid", which the object "Order" no longer has.',
      value: { id: 'v', name: 'status.paid' },
      object: { id, name: 'Order' },
    },
    {
      kind: 'value_archived',
      message: 'The rule uses the value "status.paid", which came from an object that was deleted.',
      value: { id: 'v', name: 'status.paid' },
    },
  ]);
});

it('reads sources of its own kind only', () => {
  expect(sourceOf(field('a', 'string', { object: 'Order', field: 'b' }))).toEqual({ object: 'Order', field: 'b' });
  for (const other of [null, 'x', 1, [], { object: '' }, { object: 'Order', field: 5 }]) {
    expect(sourceOf(field('a', 'string', other))).toBeUndefined();
  }
});
