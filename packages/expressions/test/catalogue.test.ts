import {
  compileFormula,
  exampleFields,
  exampleNow,
  type FunctionEntry,
  formulaFunctions,
  parseFormula,
  runFormula,
  checkFormula,
} from '../src';

const answerOf = ({ example }: FunctionEntry): unknown => {
  const parsing = parseFormula(example);
  if (!parsing.ok) throw new Error(parsing.problem.message);
  expect(checkFormula(parsing.formula, { fields: new Set(Object.keys(exampleFields)) })).toEqual([]);
  const outcome = runFormula(compileFormula(parsing.formula), { lookup: (key) => exampleFields[key], now: exampleNow });
  return outcome.ok ? outcome.value : outcome.problem;
};

describe('F51: the catalogue', () => {
  it.each(formulaFunctions.map((entry) => [entry.example, entry] as const))('%s', (_example, entry) => {
    expect(answerOf(entry)).toStrictEqual(entry.result);
  });

  it('is sorted, and names each function once', () => {
    const names = formulaFunctions.map((entry) => entry.name);
    expect(names).toEqual([...new Set(names)].sort());
  });

  it('has an example of each function that uses it', () => {
    for (const { name, example } of formulaFunctions) expect(example).toContain(`${name}(`);
  });

  it('describes each function in whole sentences', () => {
    for (const { meaning } of formulaFunctions) expect(meaning).toMatch(/^[A-Zxe-].*\.$/);
  });

  it('puts optional parameters last, at most four in all', () => {
    for (const { parameters } of formulaFunctions) {
      expect(parameters.length).toBeLessThanOrEqual(4);
      const optional = parameters.map((parameter) => Number(parameter.optional));
      expect(optional).toEqual([...optional].sort());
    }
  });
});
