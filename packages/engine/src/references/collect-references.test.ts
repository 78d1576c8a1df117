import { type RuleTable } from '@decision/contracts';
import { bindValueReferences } from './bind-value-references';
import { collectReferences, functionsCalledIn } from './collect-references';
import { checkFunctionText } from './read-formula';
import { type StoredValue } from './value-reference';

const stored = (id: string): object => ({ $rb: 'globalValue', id, name: `name of ${id}` });
const table = (parts: Partial<RuleTable>): RuleTable => ({
  requestSchema: [{ key: 'country', type: 'string' }],
  responseSchema: [{ key: 'price', type: 'function' }],
  conditions: [],
  ...parts,
});

describe('collectReferences', () => {
  it('finds references in arguments, outputs, defaults and formulas', () => {
    const references = collectReferences(
      table({
        requestSchema: [{ key: 'country', type: 'string', defaultValue: { $ref: 'home' } }],
        responseSchema: [
          { key: 'price', type: 'function', defaultComputedValue: '$fallback()' },
          { key: 'note', type: 'object', defaultValue: stored('n') },
        ],
        conditions: [
          {
            request: { country: { op: 'is included in', args: [['DE', { $ref: 'extra' }, stored('c')]] } },
            response: { price: { value: '$discount(1) + $bound(2)' }, note: { value: { deep: [{ $ref: 'deep' }] } } },
          },
        ],
        groups: { g: { hitPolicy: 'compute', accumulators: { price: '$combine($values)' } } },
        settings: { functions: { bound: 'b', unused: 'u' } },
      }),
    );
    expect([...references.ids].sort()).toEqual(['b', 'c', 'n', 'u']);
    expect([...references.names].sort()).toEqual(['combine', 'deep', 'discount', 'extra', 'fallback', 'home']);
  });

  it('leaves out what nests too deep, and formulas that cannot be read', () => {
    let deep: unknown = { $ref: 'x' };
    for (let level = 0; level < 10_000; level += 1) deep = [deep];
    const conditions = [
      { request: { country: { op: 'equals', args: [deep] } }, response: { price: { value: '$f(' } } },
    ];
    expect(collectReferences(table({ conditions }))).toEqual({ ids: new Set(), names: new Set() });
    expect(functionsCalledIn('$f(')).toEqual([]);
  });
});

describe('binding functions', () => {
  const valuesOf = (formulas: Readonly<Record<string, string>>) => {
    const values = Object.entries(formulas).map(([name, formula]): StoredValue => ({
      id: `id of ${name}`,
      name,
      type: 'function',
      value: { parameters: [], formula },
    }));
    return {
      byName: (name: string): StoredValue | undefined => values.find((value) => value.name === name),
      byId: (id: string): StoredValue | undefined => values.find((value) => value.id === id),
    };
  };
  const conditions = [{ response: { price: { value: '$a()' } } }];

  it('binds the functions that functions call, around in circles too', () => {
    const { table: bound } = bindValueReferences(
      table({ conditions }),
      valuesOf({ a: '$b() + $c()', b: '$a()', c: '1', d: '2' }),
    );
    expect(bound.settings?.functions).toEqual({ a: 'id of a', b: 'id of b', c: 'id of c' });
  });

  it('follows what is bound by its id, whatever its name is now', () => {
    const settings = { functions: { a: 'id of renamed' } };
    const { table: bound } = bindValueReferences(
      table({ conditions, settings }),
      valuesOf({ renamed: '$b()', b: '1' }),
    );
    expect(bound.settings?.functions).toEqual({ a: 'id of renamed', b: 'id of b' });
  });

  it('keeps what is bound although the name now belongs to another', () => {
    const settings = { functions: { a: 'old' } };
    const { table: bound } = bindValueReferences(table({ conditions, settings }), valuesOf({ a: '1' }));
    expect(bound.settings?.functions).toEqual({ a: 'old' });
  });
});

describe('checkFunctionText', () => {
  it.each([
    [{ parameters: ['a', 'b'], formula: 'a * b + $other(a)' }, undefined],
    [{ parameters: [], formula: '1' }, undefined],
    [{ parameters: ['a', 'a'], formula: 'a' }, /"a" stands twice/],
    [{ parameters: ['a'], formula: 'a +' }, /line 1, column 4/],
    [{ parameters: ['a'], formula: 'a + c' }, /c.*line 1, column 5/],
  ])('%j', (text, fault) => {
    if (fault === undefined) expect(checkFunctionText(text)).toBeUndefined();
    else expect(checkFunctionText(text)).toMatch(fault);
  });
});
