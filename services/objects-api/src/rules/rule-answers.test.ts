import { expectsRule, isAsExpected, ruleEtag } from './rule-answers';

const rule = { updatedAt: '2026-01-15T09:30:00.123Z' };

it.each([
  [{}, true],
  [{ updatedAt: '2026-01-15T09:30:00.123Z' }, true],
  [{ updatedAt: '2026-01-15T10:30:00.123+01:00' }, true],
  [{ updatedAt: '2026-01-15T09:30:00.124Z' }, false],
  [{ updatedAt: '2026-01-15T09:30:00Z' }, false],
  [{ ifMatch: ruleEtag(rule) }, true],
  [{ ifMatch: `W/${ruleEtag(rule)}` }, true],
  [{ ifMatch: `"other", ${ruleEtag(rule)}` }, true],
  [{ ifMatch: ' * ' }, true],
  [{ ifMatch: '"other"' }, false],
  [{ ifMatch: '' }, false],
  [{ ifMatch: rule.updatedAt }, false],
  [{ ifMatch: '*', updatedAt: '2020-01-15T09:30:00Z' }, false],
])('%j: %s', (expectation, expected) => {
  expect(isAsExpected(rule, expectation)).toBe(expected);
});

it('says whether anything is expected', () => {
  expect(expectsRule({})).toBe(false);
  expect(expectsRule({ ifMatch: '*' })).toBe(true);
  expect(expectsRule({ updatedAt: rule.updatedAt })).toBe(true);
});
