import { referencesIn, resolveContent } from './value-references';

const reference = (id: string) => ({ $rb: 'globalValue', id, name: id });

it('finds and replaces references among the elements of a list, and nowhere else', () => {
  const content = [1, reference('a'), [reference('b')], reference('c')];
  expect(referencesIn(content)).toEqual(['a', 'c']);
  const known = new Map<string, unknown>([
    ['a', ['x', 'y']],
    ['b', 2],
  ]);
  expect(resolveContent(content, known)).toEqual([1, ['x', 'y'], [reference('b')], reference('c')]);
});

it.each([['text'], [5], [true], [null], [{ parameters: [], formula: '1' }], [reference('a')]])(
  'leaves what is no list: %j',
  (content) => {
    expect(referencesIn(content)).toEqual([]);
    expect(resolveContent(content, new Map([['a', 1]]))).toBe(content);
  },
);
