import { type RuleTable } from '@decision/contracts';
import { type HiddenValues, problemsOfMovedReferences } from './moved-references';
import { type StoredValue } from './value-reference';

const reference = (id: string, name = id) => ({ $rb: 'globalValue', id, name });
const table = (parts: Partial<RuleTable>): RuleTable => ({
  requestSchema: [
    { key: 'code', type: 'string' },
    { key: 'other', type: 'string' },
  ],
  responseSchema: [
    { key: 'out', type: 'string' },
    { key: 'price', type: 'function' },
  ],
  conditions: [],
  ...parts,
});
const equals = (value: unknown, op = 'equals') => ({ op, args: [value] });

const functions: readonly StoredValue[] = [
  { id: 'f-hidden', name: 'secret', type: 'function', value: { parameters: ['a'], formula: 'a * 7' } },
  { id: 'f-seen', name: 'open', type: 'function', value: { parameters: ['a'], formula: '$secret(a) + 1' } },
];
const hiding = (...ids: string[]): HiddenValues => ({
  size: ids.length,
  has: (id) => ids.includes(id),
  hasPartly: () => false,
  get: (id) => functions.find((value) => value.id === id),
});
const settings = { functions: { secret: 'f-hidden', open: 'f-seen' } };
const paths = (after: Partial<RuleTable>, before: Partial<RuleTable>, hidden = hiding('v', 'f-hidden')) =>
  problemsOfMovedReferences(table(after), table(before), hidden).map(({ path }) => path);

const before: Partial<RuleTable> & Pick<RuleTable, 'conditions'> = {
  conditions: [
    { request: { code: equals(reference('v')) }, response: { out: { value: 'no' } } },
    { request: { other: equals(reference('v')) }, response: { price: { value: '$open(2)' } } },
  ],
  settings,
};
const [first, second] = before.conditions;

describe('V5: a reference to a hidden value', () => {
  it.each<[string, Partial<RuleTable>]>([
    ['where nothing changed', before],
    ['where rows changed their order', { ...before, conditions: [second ?? {}, first ?? {}] }],
    ['under another name', { conditions: [{ request: { code: equals(reference('v', 'renamed')) } }], settings }],
    ['where other cells changed', { conditions: [{ ...first, response: { out: { value: 'yes' } } }], settings }],
  ])('stays %s', (_, after) => {
    expect(paths(after, before)).toEqual([]);
  });

  it.each<[string, Partial<RuleTable>, string]>([
    ['an output', { conditions: [{ response: { out: { value: reference('v') } } }] }, '/conditions/0/response/out'],
    ['a list in an output', { conditions: [{ response: { out: { value: [reference('v')] } } }] }, '/conditions/0/response/out'],
    ['another operator', { conditions: [{ request: { code: equals(reference('v'), 'contains') } }] }, '/conditions/0/request/code'],
    ['a second argument', { conditions: [{ request: { code: { op: 'equals', args: [reference('v'), 1] } } }] }, '/conditions/0/request/code'],
    ['a row more', { conditions: [first ?? {}, first ?? {}] }, '/conditions/1/request/code'],
    ['another column', { conditions: [{ request: { third: equals(reference('v')) } }] }, '/conditions/0/request/third'],
    ['a default', { responseSchema: [{ key: 'out', type: 'string', defaultValue: reference('v') }] }, '/responseSchema/0/defaultValue'],
    ['another formula', { conditions: [{ response: { price: { value: '$secret(2)' } } }] }, '/conditions/0/response/price'],
    ['a formula that calls what calls it', { conditions: [{ response: { price: { value: '$open(3)' } } }] }, '/conditions/0/response/price'],
    ['another name for it', { conditions: [{ response: { price: { value: '$mine(2)' } } }], settings: { functions: { mine: 'f-hidden' } } }, '/conditions/0/response/price'],
    ['an accumulator', { groups: { g: { hitPolicy: 'compute', accumulators: { price: '$secret(1)' } } } }, '/groups/g/accumulators/price'],
    ['a computed default', { requestSchema: [{ key: 'code', type: 'string', defaultComputedValue: '$secret(1)' }] }, '/requestSchema/0/defaultComputedValue'],
  ])('is not moved to %s', (_, after, path) => {
    expect(paths({ settings, ...after }, before)).toEqual([path]);
  }); // prettier-ignore

  it('is not copied from nowhere', () => {
    expect(problemsOfMovedReferences(table(before), undefined, hiding('v'))).toHaveLength(2);
  });

  it('says of a list that is seen that a member is not', () => {
    const hidden = { ...hiding('v'), hasPartly: () => true };
    const after = table({ conditions: [{ response: { out: { value: reference('v', 'all') } } }] });
    expect(problemsOfMovedReferences(after, undefined, hidden)[0]?.message).toBe(
      'Row 0, column "out" refers to the value "all", of which a member does not exist.',
    );
  });
});
