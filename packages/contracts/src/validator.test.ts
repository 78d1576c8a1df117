import { Type } from '@sinclair/typebox';
import { checkRuleTable } from './rules/rule-table';
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

  it('looks at no more of a value once it has found 100 problems', () => {
    const check = compileValidator(Type.Object({ all: Type.Array(Part) }, { additionalProperties: false }));
    const looked = new Set<PropertyKey>();
    const all = new Proxy(
      Array.from({ length: 10_000 }, () => ({ name: 1 })),
      {
        get: (target, key, receiver) => {
          looked.add(key);
          return Reflect.get(target, key, receiver) as unknown;
        },
      },
    );
    const checked = check({ all });
    expect(!checked.ok && checked.problems.length).toBe(100);
    expect(looked.size).toBeLessThan(200);
  });

  it('makes no more than 100 problems of unknown fields, however many there are', () => {
    const unknown = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field${index}`, index]));
    for (const schema of [Part, Type.Array(Part), Type.Union([Part, Type.String()])]) {
      const checked = compileValidator(schema)(schema.type === 'array' ? [unknown, unknown] : unknown);
      expect(!checked.ok && checked.problems.length).toBe(100);
    }
  });

  it('finds the problems of a value that hides many in a form that it need not have', () => {
    const check = compileValidator(
      Type.Object({ parts: Type.Union([Type.Array(Part), Type.Array(Type.Number())]), name: Type.String() }),
    );
    const numbers = Array.from({ length: 500 }, (_, index) => index);
    expect(check({ parts: numbers, name: 'x' }).ok).toBe(true);
    expect(check({ parts: numbers, name: 1 })).toMatchObject({ ok: false });
  });

  it('repeats only the beginning of a long name or path', () => {
    const long = 'k'.repeat(1_000_000);
    const check = compileValidator(Type.Record(Type.String(), Part));
    const checked = check({ [long]: { name: 'x', [long]: 1 } });
    expect(JSON.stringify(checked).length).toBeLessThan(500);
    expect(checked).toMatchObject({ problems: [{ message: `has an unknown field "${'k'.repeat(100)}..."` }] });
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
