import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFormula, defaultFormulaBudget, exampleNow, type FormulaBudget, parseFormula, runFormula } from '../src';

/** One case of `cases/*.json`. Exactly one of `result` and `error` is given. */
interface FormulaCase {
  /** The numbered statement of docs/specs/formulas.md that it demonstrates. */
  readonly statement: string;
  readonly name: string;
  readonly formula: string;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly functions?: Readonly<Record<string, { readonly parameters: readonly string[]; readonly body: string }>>;
  /** Default: the clock of the examples. */
  readonly now?: number;
  readonly budget?: Partial<FormulaBudget>;
  readonly result?: unknown;
  readonly error?: string;
  /** The part of the formula at which the fault is reported. */
  readonly at?: string;
}

const folder = join(__dirname, '../cases');
const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
const casesOf = (file: string): FormulaCase[] => JSON.parse(readFileSync(join(folder, file), 'utf8')) as FormulaCase[];

const compileText = (text: string): ReturnType<typeof compileFormula> => {
  const parsing = parseFormula(text);
  if (!parsing.ok) throw new Error(parsing.problem.message);
  return compileFormula(parsing.formula);
};

const run = ({ formula, fields = {}, functions = {}, now = exampleNow, budget = {} }: FormulaCase): unknown => {
  const parsing = parseFormula(formula);
  const outcome = parsing.ok
    ? runFormula(compileFormula(parsing.formula), {
        lookup: (key) => (Object.hasOwn(fields, key) ? fields[key] : undefined),
        now,
        functions: new Map(
          Object.entries(functions).map(([name, { parameters, body }]) => [
            name,
            { parameters, body: compileText(body) },
          ]),
        ),
        budget: { ...defaultFormulaBudget, ...budget },
      })
    : parsing;
  if (outcome.ok) return { result: outcome.value };
  const { code, position, length } = outcome.problem;
  return { error: code, at: formula.slice(position, position + length) };
};

describe.each(files)('cases/%s', (file) => {
  it.each(casesOf(file).map((entry) => [`${entry.statement}: ${entry.name}: ${entry.formula}`, entry] as const))(
    '%s',
    (_title, entry) => {
      const { result, error, at } = entry;
      expect(run(entry)).toStrictEqual(error === undefined ? { result } : { error, at });
    },
  );

  it('has unique names of cases', () => {
    const names = casesOf(file).map(({ statement, name }) => `${statement}: ${name}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});

it('finds the cases', () => {
  expect(files.flatMap(casesOf).length).toBeGreaterThan(350);
});
