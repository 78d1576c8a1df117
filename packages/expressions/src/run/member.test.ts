import { kindOf } from '../values/kind';
import { memberOf } from './member';

class Account {
  readonly balance = 5;
}

describe('members', () => {
  it('are own keys of plain objects', () => {
    expect(memberOf({ a: 1 }, 'a')).toBe(1);
    expect(memberOf(Object.assign(Object.create(null), { a: 1 }), 'a')).toBe(1);
    expect(memberOf({ a: undefined }, 'a')).toBeNull();
    expect(memberOf(Object.create({ a: 1 }), 'a')).toBeNull();
  });

  it('of all else are null', () => {
    const others = [null, undefined, 5, 'a', true, [1], new Account(), new Map([['a', 1]]), () => 1, Symbol('a'), 5n];
    for (const key of ['a', 'balance', 'size', 'name', '0', 'constructor', '__proto__', 'prototype', 'toString']) {
      for (const value of others) expect(memberOf(value, key)).toBeNull();
    }
  });

  it('of the prototype are null', () => {
    for (const key of Object.getOwnPropertyNames(Object.prototype)) expect(memberOf({}, key)).toBeNull();
    for (const key of Object.getOwnPropertyNames(Array.prototype)) {
      expect(memberOf([1, 2], key)).toBe(key === 'length' ? 2 : null);
    }
    for (const key of Object.getOwnPropertyNames(String.prototype)) {
      expect(memberOf('ab', key)).toBe(key === 'length' ? 2 : null);
    }
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
