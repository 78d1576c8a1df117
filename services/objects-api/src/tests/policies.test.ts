import { isAsExpected } from './policies';

const output = {
  price: 4.9,
  zone: { code: 'EU', days: [1, 2, 3] },
  steps: [
    { n: 1, ok: true },
    { n: 2, ok: false },
  ],
  none: null,
};

it.each<[unknown, boolean]>([
  [{}, true],
  [{ price: 4.9 }, true],
  [{ price: 4.8 }, false],
  [{ price: '4.9' }, false],
  [{ missing: null }, false],
  [{ none: null }, true],
  [{ zone: { code: 'EU' } }, true],
  [{ code: 'EU' }, true],
  [{ code: 'EU', price: 4.9 }, false],
  [{ zone: { days: [3, 1] } }, true],
  [{ zone: { days: [4] } }, false],
  [{ days: { 0: 1 } }, false],
  [{ steps: [{ n: 2 }] }, true],
  [{ n: 2, ok: false }, true],
  [{ n: 2, ok: true }, false],
  [{ steps: [{ n: 1, ok: false }] }, false],
  [{ toString: 1 }, false],
])('%j is contained: %p, and excluded otherwise', (expected, contained) => {
  expect(isAsExpected('contains', expected, output)).toBe(contained);
  expect(isAsExpected('excludes', expected, output)).toBe(!contained);
});

it.each<[unknown, unknown, boolean]>([
  [{}, {}, true],
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ a: 1, b: 2 }, { a: 1 }, false],
  [{ a: [1, 2] }, { a: [2, 1] }, false],
  [{ a: [1, 2] }, { a: [1, 2] }, true],
  [{ a: [1] }, { a: [1, 2] }, false],
  [{ a: [] }, { a: {} }, false],
  [{ a: {} }, { a: [] }, false],
  [{ a: null }, { a: {} }, false],
  [{ a: { b: { c: [{ d: 1 }] } } }, { a: { b: { c: [{ d: 1 }] } } }, true],
  [{ a: 0 }, { a: -0 }, true],
])('%j matches %j: %p', (expected, answered, matches) => {
  expect(isAsExpected('matches', expected, answered)).toBe(matches);
});
