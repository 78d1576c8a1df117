import { formulaFunctions } from '../functions/catalogue';
import { parseFormula } from '../syntax/parser';
import { readingOfArgument } from './argument-reading';

const readingsOf = (text: string): readonly string[] => {
  const parsing = parseFormula(text);
  if (!parsing.ok || parsing.formula.root.kind !== 'call') throw new Error(`${text} is no call.`);
  const { root } = parsing.formula;
  return root.arguments.map((_argument, index) => readingOfArgument(root, index));
};

describe('how much a call reads of its arguments', () => {
  it.each([
    ['sum(list, o => o.total)', ['parts', 'parts']],
    ['max(a, b, c)', ['parts', 'parts', 'parts']],
    ['filter(list, o => o.open)', ['answered', 'parts']],
    ['map(list, o => o)', ['parts', 'answered']],
    ['sort(list, o => o.total)', ['answered', 'whole']],
    ['first(list)', ['answered']],
    ["first(list, 'total')", ['parts', 'whole']],
    ["first(list, 'total > 1')", ['answered', 'whole']],
    ['first(list, o => o.open)', ['answered', 'whole']],
    ['contains(list, o)', ['whole', 'whole']],
    ["history('name')", ['whole']],
    ['none(list)', ['whole']],
  ])('%s', (text, readings) => {
    expect(readingsOf(text)).toEqual(readings);
  });

  it('is all of them, unless the catalogue says otherwise', () => {
    const lessThanWhole = formulaFunctions
      .map(({ name }) => name)
      .filter((name) => readingsOf(`${name}(a)`).some((reading) => reading !== 'whole'));
    expect(lessThanWhole).toEqual([
      ...[
        'all',
        'any',
        'average',
        'avg',
        'count',
        'filter',
        'first',
        'is_null',
        'last',
        'length',
        'list',
        'map',
        'max',
      ],
      ...['min', 'reverse', 'slice', 'sort', 'sum', 'unique'],
    ]);
  });
});
