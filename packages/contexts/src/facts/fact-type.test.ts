import { expectedOf, fitsType, kindOfValue } from './fact-type';

describe('C27: types', () => {
  it.each([
    ['number', 1.5, true],
    ['number', Infinity, false],
    ['number', Number.NaN, false],
    ['number', '1', false],
    ['string', '', true],
    ['string', 1, false],
    ['boolean', false, true],
    ['boolean', 0, false],
    ['date', '2024-02-29', true],
    ['date', '2023-02-29', false],
    ['date', '2024-05-01T10:30:00+02:00', true],
    ['date', 'tomorrow', false],
    ['date', 0, true],
    ['date', 0.5, false],
    ['date', -62_167_219_200_000, true],
    ['date', -62_167_219_200_001, false],
    ['date', 253_402_300_799_999, true],
    ['date', 253_402_300_800_000, false],
    ['date', '9999-12-31T23:59:59-14:00', false],
    ['date', '0000-01-01T00:00:00+00:01', false],
    ['date', '9999-12-31T23:59:59.999Z', true],
    ['list', [], true],
    ['list', {}, false],
    ['object', {}, true],
    ['object', [], false],
  ] as const)('%s takes %j: %s', (type, value, fits) => {
    expect(fitsType(value, type)).toBe(fits);
  });
});

it.each(['string', 'number', 'boolean', 'date', 'list', 'object'] as const)('C26: null has the type %s', (type) => {
  expect(fitsType(null, type)).toBe(true);
  expect(expectedOf[type]).toBeTruthy();
});

it('names the type of a value', () => {
  expect([null, [], {}, 'a', 1, true].map(kindOfValue)).toEqual([
    'null',
    'a list',
    'an object',
    'a string',
    'a number',
    'a boolean',
  ]);
});
