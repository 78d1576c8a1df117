import { type Facts } from './facts';
import { checkRecord, isRecord } from './check-record';
import { base, derived, noCollections, withPolicy } from '../../test/fixtures';

const parts = {
  base: [
    ...base({ total: 'number', note: 'string' }),
    { key: 'score', type: 'number' as const, output_only: true },
    { key: 'country', type: 'string' as const, values_only: true, values_collection: 'countries' },
    { key: 'regions', type: 'list' as const, values_only: true, values_collection: 'countries' },
  ],
  derived: derived({ double: 'total * 2' }),
};
const countries = new Set(['DE', 'FR']);
const collections = (name: string): ReadonlySet<unknown> | undefined => (name === 'countries' ? countries : undefined);
const faulty: readonly [string, Facts, string][] = [
  ['undeclared', { colour: 'red' }, '"colour"'],
  ['wrong_type', { total: '12' }, 'must be a number, not a string'],
  ['output_only', { score: 1 }, '"score" is output_only'],
  ['derived', { double: 2 }, '"double" is derived'],
  ['not_in_collection', { country: 'XX' }, '"country" must hold values of the collection "countries"'],
  ['not_in_collection', { regions: ['DE', 'XX'] }, '"regions"'],
  ['unstorable', { note: 'a\u0000' }, '"note" holds a NUL'],
];

it.each(faulty)('C21: a record mismatches: %s %j', (because, record, sentence) => {
  const check = checkRecord(withPolicy('reject', parts), { id: 'a', note: 'x', ...record }, collections);
  expect(check).toMatchObject({ ok: false, mismatches: [{ because }] });
  if (!check.ok) expect(check.mismatches[0]?.error).toContain(sentence);
});

it('C21: members of a collection, and lists of them, fit', () => {
  const record = { country: 'DE', regions: ['FR', 'DE'] };
  expect(checkRecord(withPolicy('reject', parts), record, collections)).toEqual({
    ok: true,
    facts: record,
    dropped: [],
  });
  expect(checkRecord(withPolicy('reject', parts), record, noCollections).ok).toBe(false);
});

it.each(faulty)('C22: ignore drops and names what mismatches: %s %j', (because, record) => {
  const check = checkRecord(withPolicy('ignore', parts), { total: 1, ...record, id: 'a' }, collections);
  const facts = Object.hasOwn(record, 'total') ? {} : { total: 1 };
  const [fact = ''] = Object.keys(record);
  expect(check).toMatchObject({ ok: true, facts, dropped: [{ fact, because }] });
});

it('C23: reject refuses the record whole, with each mismatch', () => {
  const check = checkRecord(withPolicy('reject', parts), { total: 'x', colour: 1, note: 'fine' }, collections);
  expect(check.ok ? [] : check.mismatches.map(({ fact }) => fact)).toEqual(['total', 'colour']);
});

it('C24: store keeps undeclared facts and refuses every other mismatch', () => {
  const model = withPolicy('store', parts);
  expect(checkRecord(model, { colour: 'red', total: 1 }, collections)).toEqual({
    ok: true,
    facts: { colour: 'red', total: 1 },
    dropped: [],
  });
  for (const [because, record] of faulty.slice(1)) {
    expect(checkRecord(model, record, collections)).toMatchObject({ ok: false, mismatches: [{ because }] });
  }
});

describe('C25: what cannot be stored', () => {
  const nested = (levels: number): unknown => Array.from({ length: levels }).reduce<unknown>((inner) => [inner], 1);

  it.each([
    [{ a: '\u0000' }],
    [{ a: { b: ['\ud800'] } }],
    [{ a: { 'k\u0000': 1 } }],
    [{ a: nested(501) }],
    [{ a: nested(100_000) }],
    [JSON.parse('{"__proto__": 1}') as Facts],
    [{ 'a.b': 1 }],
    [{ '': 1 }],
    [{ $x: 1 }],
  ])('is refused by every policy (%#)', (record) => {
    expect(checkRecord(withPolicy('store'), record, noCollections)).toMatchObject({ ok: false });
    expect(checkRecord(withPolicy('reject'), record, noCollections)).toMatchObject({ ok: false });
    expect(checkRecord(withPolicy('ignore'), record, noCollections)).toMatchObject({
      ok: true,
      facts: {},
      dropped: [{}],
    });
  });

  it('does not include values of 500 levels', () => {
    expect(checkRecord(withPolicy('store'), { a: nested(500) }, noCollections)).toMatchObject({ ok: true });
  });
});

it('C26: null fits every fact, but not those that are not given at all', () => {
  const record = { total: null, country: null, regions: null };
  expect(checkRecord(withPolicy('reject', parts), record, collections)).toEqual({
    ok: true,
    facts: record,
    dropped: [],
  });
  expect(checkRecord(withPolicy('reject', parts), { score: null }, collections).ok).toBe(false);
});

it('tells a bounded number of mismatches', () => {
  const record = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`x${index}`, 1]));
  const check = checkRecord(withPolicy('reject'), record, noCollections);
  expect(check.ok ? 0 : check.mismatches.length).toBe(20);
});

it.each([
  [{}, true],
  [[], false],
  [null, false],
  ['a', false],
  [1, false],
])('takes %j for a record: %s', (value, expected) => {
  expect(isRecord(value)).toBe(expected);
});
