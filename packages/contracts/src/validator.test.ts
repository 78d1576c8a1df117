import { Type } from '@sinclair/typebox';
import { checkRuleTable } from './rules/rule-document';
import { compileValidator } from './validator';

const Part = Type.Object({ name: Type.String() }, { $id: 'Part', additionalProperties: false });

describe('compileValidator', () => {
  it('takes a named schema that stands in several places', () => {
    const check = compileValidator(Type.Object({ left: Part, right: Part, all: Type.Array(Part) }));
    expect(check({ left: { name: 'a' }, right: { name: 'b' }, all: [] }).ok).toBe(true);
    expect(compileValidator(Part)({ name: 1 })).toEqual({
      ok: false,
      problems: [{ path: '/name', message: 'must be string' }],
    });
  });

  it('reports every problem with its place, at most 100', () => {
    const check = compileValidator(Type.Array(Part));
    expect(check([{ name: 1 }, { name: 'x', extra: 1 }])).toMatchObject({
      problems: [{ path: '/0/name' }, { path: '/1', message: 'has an unknown field "extra"' }],
    });
    const many = check(Array.from({ length: 500 }, () => ({})));
    expect(!many.ok && many.problems.length).toBe(100);
  });

  it('does not fall for a __proto__ key', () => {
    expect(compileValidator(Part)(JSON.parse('{"__proto__":{"name":"x"}}')).ok).toBe(false);
  });
});

it('a rule table is accepted with nothing in it and refused with a row that is none', () => {
  expect(checkRuleTable({ requestSchema: [], responseSchema: [], conditions: [] }).ok).toBe(true);
  expect(
    checkRuleTable({ requestSchema: [], responseSchema: [], conditions: [{ request: { a: 'x' } }] }),
  ).toMatchObject({
    ok: false,
    problems: [{ path: '/conditions/0/request/a' }],
  });
});
