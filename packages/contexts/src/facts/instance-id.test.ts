import { identityValueOf, linkedInstance, readIdentity } from './instance-id';

const text = { key: 'id', type: 'string' } as const;
const number = { key: 'id', type: 'number' } as const;

describe('C20: the identity', () => {
  it.each([
    [text, 'c-1', 'c-1'],
    [text, 'a/b c', 'a/b c'],
    [text, '__proto__', '__proto__'],
    [number, 42, '42'],
    [number, 1.5, '1.5'],
    [number, -0, '0'],
    [text, 'x'.repeat(512), 'x'.repeat(512)],
  ] as const)('%j: %j names %s', (identity, value, instanceId) => {
    expect(readIdentity(identity, value)).toEqual({ ok: true, instanceId });
  });

  it.each([
    [text, undefined, 'is missing'],
    [text, null, 'is missing'],
    [text, '', 'is empty'],
    [text, 42, 'must be a string, not a number'],
    [number, '42', 'must be a number, not a string'],
    [number, Number.NaN, 'must be a number'],
    [text, ['a'], 'must be a string, not a list'],
    [text, 'x'.repeat(10_000), 'longer than 512'],
    [text, 'a\u0000', 'control character'],
    [text, '\udc00', 'half of a character'],
  ] as const)('%j: %j is refused', (identity, value, reason) => {
    const reading = readIdentity(identity, value);
    expect(reading.ok ? '' : reading.error).toContain(reason);
  });

  it.each([
    [text, '042', '042'],
    [number, '42', 42],
    [number, '042', undefined],
    [number, '1e3', undefined],
    [number, ' 1', undefined],
    [number, 'Infinity', undefined],
    [number, '', undefined],
    [text, '', undefined],
  ] as const)('%j: the path %j refers to %j', (identity, path, value) => {
    expect(identityValueOf(identity, path)).toBe(value);
  });
});

it.each([
  ['c-1', 'c-1'],
  [42, '42'],
  [null, undefined],
  [undefined, undefined],
  ['', undefined],
  [true, undefined],
  [['c-1'], undefined],
  ['x'.repeat(513), undefined],
])('C110: the foreign key %j links to %j', (value, instance) => {
  expect(linkedInstance(value)).toBe(instance);
});
