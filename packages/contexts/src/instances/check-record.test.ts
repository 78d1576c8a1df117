import { type Facts } from '../facts/facts';
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
    ignored: [],
    ignoredCount: 0,
  });
  expect(checkRecord(withPolicy('reject', parts), record, noCollections).ok).toBe(false);
});

it.each(faulty)('C22: ignore drops and names mismatches: %s %j', (because, record) => {
  const check = checkRecord(withPolicy('ignore', parts), { total: 1, ...record, id: 'a' }, collections);
  const facts = Object.hasOwn(record, 'total') ? {} : { total: 1 };
  const [fact = ''] = Object.keys(record);
  expect(check).toMatchObject({ ok: true, facts, ignored: [{ fact, because }], ignoredCount: 1 });
});

it('C23: reject refuses the whole record, with each mismatch', () => {
  const check = checkRecord(withPolicy('reject', parts), { total: 'x', colour: 1, note: 'fine' }, collections);
  expect(check.ok ? [] : check.mismatches.map(({ fact }) => fact)).toEqual(['total', 'colour']);
});

it('C24: store keeps undeclared facts and refuses every other mismatch', () => {
  const model = withPolicy('store', parts);
  expect(checkRecord(model, { colour: 'red', total: 1 }, collections)).toEqual({
    ok: true,
    facts: { colour: 'red', total: 1 },
    ignored: [],
    ignoredCount: 0,
  });
  for (const [because, record] of faulty.slice(1)) {
    expect(checkRecord(model, record, collections)).toMatchObject({ ok: false, mismatches: [{ because }] });
  }
});

describe('C25: a value that cannot be stored', () => {
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
      ignored: [{}],
    });
  });

  it('does not include values of 500 levels', () => {
    expect(checkRecord(withPolicy('store'), { a: nested(500) }, noCollections)).toMatchObject({ ok: true });
  });
});

it('C26: null fits every fact except those that cannot be given', () => {
  const record = { total: null, country: null, regions: null };
  expect(checkRecord(withPolicy('reject', parts), record, collections)).toEqual({
    ok: true,
    facts: record,
    ignored: [],
    ignoredCount: 0,
  });
  expect(checkRecord(withPolicy('reject', parts), { score: null }, collections).ok).toBe(false);
});

it.each(['reject', 'ignore'] as const)('C28: of any number of mismatches %s lists 100 and counts all', (policy) => {
  const record = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`x${index}`, 1]));
  const check = checkRecord(withPolicy(policy, parts), { ...record, total: 'x', note: 'fine' }, collections);
  const told = check.ok ? check.ignored : check.mismatches;
  expect({ told: told.length, count: check.ok ? check.ignoredCount : check.count }).toEqual({
    told: 100,
    count: 200_001,
  });
  if (check.ok) expect(check.facts).toEqual({ note: 'fine' });
});

describe('C28: an unknown fact', () => {
  const sentence = (fact: string, policy: 'reject' | 'ignore' = 'reject') => {
    const check = checkRecord(withPolicy(policy, parts), { [fact]: 1 }, collections);
    return (check.ok ? check.ignored : check.mismatches)[0]?.error;
  };

  it.each([
    ['totl', 'total'],
    ['Total', 'total'],
    ['contry', 'country'],
    ['region', 'regions'],
  ])('named %s gets the suggestion %s', (fact, meant) => {
    const told = `The context has no fact "${fact}"; did you mean "${meant}"?`;
    expect([sentence(fact), sentence(fact, 'ignore')]).toEqual([told, told]);
  });

  it.each(['colour', 'scor', 'doubl'])('named %s is not close to any that may be given', (fact) => {
    expect(sentence(fact)).toBe(`The context has no fact "${fact}".`);
  });

  it('gets no suggestion after too many comparisons', () => {
    const many = Array.from({ length: 3_000 }, (_, index) => ({
      key: `fact_number_${index}`,
      type: 'number' as const,
    }));
    const model = withPolicy('ignore', { base: many });
    const record = Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`fact_numbr_${index}`, 1]));
    const check = checkRecord(model, record, noCollections);
    const sentences = check.ok ? check.ignored.map(({ error }) => error) : [];
    expect(sentences[0]).toContain('did you mean "fact_number_0"?');
    expect(sentences.filter((each) => each.includes('did you mean')).length).toBeLessThan(20);
  });
});

it.each([
  [{}, true],
  [[], false],
  [null, false],
  ['a', false],
  [1, false],
])('accepts %j as a record: %s', (value, expected) => {
  expect(isRecord(value)).toBe(expected);
});
