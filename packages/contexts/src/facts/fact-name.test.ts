import { faultOfFactName, quoted } from './fact-name';

describe('C2: names of facts', () => {
  it.each(['a', 'order total', 'größe', '数', 'constructor', 'toString', 'x'.repeat(200), 'a$', '😀'])(
    'may be %s',
    (name) => {
      expect(faultOfFactName(name)).toBeUndefined();
    },
  );

  it.each([
    ['', 'empty'],
    ['x'.repeat(201), 'longer than 200'],
    ['a.b', 'dot'],
    ['$a', 'begins with $'],
    ['__proto__', 'reserved'],
    ['a\u0000', 'control'],
    ['a\nb', 'control'],
    ['\ud83d', 'half of a character'],
  ])('may not be %j: %s', (name, reason) => {
    expect(faultOfFactName(name)).toContain(reason);
  });
});

it('shortens names in messages', () => {
  expect(quoted('x'.repeat(10_000)).length).toBeLessThan(80);
  expect(quoted('total')).toBe('"total"');
});
