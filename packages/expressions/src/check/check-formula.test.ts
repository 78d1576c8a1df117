import { parseFormula } from '../syntax/parser';
import { checkFormula, type CheckScope } from './check-formula';

const check = (text: string, scope: CheckScope = {}): string[] => {
  const parsing = parseFormula(text);
  if (!parsing.ok) throw new Error(parsing.problem.message);
  return checkFormula(parsing.formula, scope).map(
    ({ code, message, position, length }) => `${code} at ${text.slice(position, position + length)}: ${message}`,
  );
};

const fields = new Set(['company_size', 'location.city', 'location.address.zip', 'my field']);

describe('F91: fields', () => {
  it.each([
    'company_size',
    'company_size.anything',
    'location.city',
    'location.city.name',
    'location',
    'location.address',
    '`my field` + 1',
    'map(company_size, x => x.y)',
    "map(company_size, 'whatever')",
    '$anything',
  ])('known: %s', (text) => {
    expect(check(text, { fields })).toEqual([]);
  });

  it('unknown ones are reported with the name that is probably meant', () => {
    expect(check('compny_size + loc', { fields })).toEqual([
      'unknown_field at compny_size: there is no field compny_size; did you mean company_size?',
      'unknown_field at loc: there is no field loc; did you mean location.city?',
    ]);
    expect(check('my_field', { fields })).toEqual([
      'unknown_field at my_field: there is no field my_field; did you mean `my field`?',
    ]);
    expect(check('zzz', { fields })).toEqual(['unknown_field at zzz: there is no field zzz']);
  });

  it('are not checked if none are given', () => {
    expect(check('anything.at.all')).toEqual([]);
  });

  it("end where a lambda's variable begins", () => {
    expect(check('map(company_size, x => x + y)', { fields })).toHaveLength(1);
    expect(check('[map(company_size, x => x), x]', { fields })).toEqual(['unknown_field at x: there is no field x']);
  });

  it('offer the variables too', () => {
    expect(check('map(company_size, order => ordr.a)', { fields })).toEqual([
      'unknown_field at ordr.a: there is no field ordr.a; did you mean order?',
    ]);
  });

  it('do not count as references, nor do references count as fields', () => {
    const references = new Set(['$relations.orders']);
    expect(check('sum($relations.orders)', { fields, references })).toEqual([]);
    expect(check('sum($relations.order)', { fields, references })).toEqual([
      'unknown_field at $relations.order: there is no field $relations.order; did you mean $relations.orders?',
    ]);
  });
});

describe('F90: functions', () => {
  it('unknown ones are reported with the name that is probably meant', () => {
    expect(check('rond(1) + if(true, 1, 2) + Sum([1])')).toEqual([
      'unknown_function at rond: there is no function rond; did you mean round?',
      'unknown_function at if: there is no function if; did you mean ifelse?',
      'unknown_function at Sum: there is no function Sum; did you mean sum?',
    ]);
  });

  it('are checked for their number of arguments', () => {
    expect(check('round() + round(1, 2, 3) + ifelse(true, 1)')).toEqual([
      'wrong_argument_count at round(): round takes 1 to 2 arguments, 0 given',
      'wrong_argument_count at round(1, 2, 3): round takes 1 to 2 arguments, 3 given',
      'wrong_argument_count at ifelse(true, 1): ifelse takes 3 arguments, 2 given',
    ]);
    expect(check('abs()')).toEqual(['wrong_argument_count at abs(): abs takes 1 argument, 0 given']);
  });

  it('are known by name if the host declares them', () => {
    const hostFunctions = new Map([['history', { minimum: 1, maximum: 2 }]]);
    expect(check("history('a')", { hostFunctions })).toEqual([]);
    expect(check('history()', { hostFunctions })).toEqual([
      'wrong_argument_count at history(): history takes 1 to 2 arguments, 0 given',
    ]);
    expect(check("histry('a')", { hostFunctions })).toEqual([
      'unknown_function at histry: there is no function histry; did you mean history?',
    ]);
    expect(check("history('a')")).toEqual(['unknown_function at history: there is no function history']);
  });

  it('are checked if they are given as values', () => {
    const functions = new Map([['discount', { parameters: 2 }]]);
    expect(check('$discount(1, 2)', { functions })).toEqual([]);
    expect(check('$discount(1)', { functions })).toEqual([
      'wrong_argument_count at $discount(1): $discount takes 2 arguments, 1 given',
    ]);
    expect(check('$discont(1)', { functions })).toEqual([
      'unknown_function at $discont: no function value is named discont; did you mean $discount?',
    ]);
    expect(check('$anything(1)')).toEqual([]);
  });
});

describe('F90: arguments', () => {
  it('are refused if lambdas are required', () => {
    expect(check('filter([1], true)')).toEqual([
      'lambda_expected at true: filter takes a lambda here, such as item => item.price > 10, or a condition in quotes',
    ]);
    expect(check('sum([1], 2)')).toEqual([]);
  });

  it('may be lambdas only where one is expected', () => {
    const message = 'a lambda can only be passed to a function that applies it to the elements of a list';
    expect(check('abs(x => x)')).toEqual([`lambda_misplaced at x => x: ${message}`]);
    expect(check('$f(x => x)')).toEqual([`lambda_misplaced at x => x: ${message}`]);
    expect(check('map(x => x, x => x)')).toEqual([`lambda_misplaced at x => x: ${message}`]);
  });

  it('may be formulas in quotes', () => {
    expect(check("filter([1], 'a >')")).toEqual([
      "invalid_selector at 'a >': the text in quotes is no formula: expected a value, found the end of the formula",
    ]);
    expect(check("filter([1], 'rond(a) > 1')")).toEqual([
      "unknown_function at 'rond(a) > 1': in the selector: there is no function rond; did you mean round?",
    ]);
    expect(check('map([1], \'sum(a, "b")\')')).toEqual([
      'invalid_selector at \'sum(a, "b")\': in the selector: a formula in quotes cannot hold another in quotes: write item => ... instead',
    ]);
  });

  it('keep the position inside quotes', () => {
    const parsing = parseFormula("filter([1], 'a +\n )')".replace('\n', '\\n'));
    const [problem] = parsing.ok ? checkFormula(parsing.formula, {}) : [];
    expect(problem?.inner).toMatchObject({ code: 'unexpected_text', line: 2, column: 2 });
  });

  it('must be literal and supported if they are regular expressions', () => {
    expect(check("matches('a', '^(a+)+$')")).toEqual([]);
    expect(check("matches('a', '(?=a)')")).toEqual([
      "invalid_pattern at '(?=a)': the regular expression cannot be used: invalid or unsupported Perl syntax: `(?=`",
    ]);
    expect(check("matches('a', b)")).toEqual([
      'invalid_pattern at b: the regular expression of matches is written as a string in the formula, so that it is checked before it runs',
    ]);
  });

  it('are bounded in number if they are regular expressions', () => {
    const formula = Array.from({ length: 22 }, (_, index) => `matches(a, '${index}')`).join(' or ');
    expect(check(formula)).toEqual([
      "formula_too_large at '20': a formula has at most 20 regular expressions",
      "formula_too_large at '21': a formula has at most 20 regular expressions",
    ]);
  });
});

describe('F90: the answer', () => {
  it('are in the order of the text', () => {
    expect(check('[a, abs(), b]', { fields: new Set() }).map((line) => line.split(' ')[2])).toEqual([
      'a:',
      'abs():',
      'b:',
    ]);
  });

  it('are limited to a hundred', () => {
    const formula = `[${Array.from({ length: 300 }, (_, index) => `x${index}`).join(',')}]`;
    expect(check(formula, { fields: new Set() })).toHaveLength(100);
  });
});
