import { kindOf, measureValue } from './operands';

class Account {
  readonly balance = 5;
}

describe('the size of a value', () => {
  it.each([
    [null, 1],
    [5, 1],
    ['abc', 4],
    [[], 1],
    [[1, [2]], 4],
    [{ ab: 'c' }, 5],
  ])('of %j is %d', (value, size) => {
    expect(measureValue(value, 1_000)).toBe(size);
  });

  it('is not counted beyond the bound', () => {
    let doubled: unknown = 'x';
    for (let level = 0; level < 1_000; level += 1) doubled = [doubled, doubled];
    expect(measureValue(doubled, 10_000)).toBeGreaterThan(10_000);
    expect(
      measureValue(
        Array.from({ length: 100 }, () => 1),
        50,
      ),
    ).toBe(51);
  });

  it('counts a repeated value each time', () => {
    const text = 'x'.repeat(99);
    expect(measureValue([text, text, text], 1_000)).toBe(301);
  });
});

describe('kinds', () => {
  it.each([
    [undefined, 'null'],
    [null, 'null'],
    [NaN, 'number'],
    ['', 'string'],
    [false, 'boolean'],
    [[], 'list'],
    [{}, 'object'],
    [Object.create(null), 'object'],
    [new Account(), 'unsupported'],
    [new Date(0), 'unsupported'],
    [new Map(), 'unsupported'],
    [() => 1, 'unsupported'],
    [Symbol('a'), 'unsupported'],
    [5n, 'unsupported'],
  ])('%p', (value, kind) => {
    expect(kindOf(value)).toBe(kind);
  });
});
