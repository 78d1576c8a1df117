import { expectsAsset, isAsExpected, assetEtag } from './expectation';

const rule = { updatedAt: '2026-01-15T09:30:00.123Z' };

it.each([
  [{}, true],
  [{ updatedAt: '2026-01-15T09:30:00.123Z' }, true],
  [{ updatedAt: '2026-01-15T10:30:00.123+01:00' }, true],
  [{ updatedAt: '2026-01-15T09:30:00.124Z' }, false],
  [{ updatedAt: '2026-01-15T09:30:00Z' }, false],
  [{ ifMatch: assetEtag(rule) }, true],
  [{ ifMatch: `W/${assetEtag(rule)}` }, true],
  [{ ifMatch: `"other", ${assetEtag(rule)}` }, true],
  [{ ifMatch: ' * ' }, true],
  [{ ifMatch: '"other"' }, false],
  [{ ifMatch: '' }, false],
  [{ ifMatch: rule.updatedAt }, false],
  [{ ifMatch: '*', updatedAt: '2020-01-15T09:30:00Z' }, false],
])('%j: %s', (expectation, expected) => {
  expect(isAsExpected(rule, expectation)).toBe(expected);
});

it('says whether anything is expected', () => {
  expect(expectsAsset({})).toBe(false);
  expect(expectsAsset({ ifMatch: '*' })).toBe(true);
  expect(expectsAsset({ updatedAt: rule.updatedAt })).toBe(true);
});
