import {
  compileFormula,
  defaultFormulaBudget,
  type FormulaBudget,
  formulaFunctions,
  type FormulaOutcome,
  formulaReferences,
  checkFormula,
  parseFormula,
  runFormula,
} from '../src';
import { printNode } from '../src/syntax/printer';

/*
 * Formulas written to hang, crash or escape. No times are asserted: quadratic or exponential work would not end before the test's deadline.
 */

const run = (
  text: string,
  fields: Readonly<Record<string, unknown>> = {},
  budget: Partial<FormulaBudget> = {},
): FormulaOutcome => {
  const parsing = parseFormula(text);
  if (!parsing.ok) return parsing;
  return runFormula(compileFormula(parsing.formula), {
    lookup: (key) => (Object.hasOwn(fields, key) ? fields[key] : undefined),
    now: 0,
    budget: { ...defaultFormulaBudget, ...budget },
  });
};

const codeOf = (outcome: FormulaOutcome): string => (outcome.ok ? 'ok' : outcome.problem.code);

const MEGABYTE = 1_000_000;
const megabyte = 'a'.repeat(MEGABYTE);
const hundredThousand = Array.from({ length: 100_000 }, (_, index) => index);

describe('F12: hostile text', () => {
  it.each([
    ['open parentheses', '('.repeat(10_000)],
    ['open lists', '['.repeat(10_000)],
    ['open calls', 'f('.repeat(5_000)],
    ['signs', '-'.repeat(10_000)],
    ['exclamation marks', '!'.repeat(10_000)],
    ['negations', 'not '.repeat(2_500)],
    ['question marks', 'a?'.repeat(5_000)],
    ['powers', '2**'.repeat(3_333)],
    ['points', 'a.'.repeat(5_000)],
    ['lambdas', 'f(a=>'.repeat(2_000)],
    ['quotation marks', '"'.repeat(9_999)],
    ['backslashes', `"${'\\'.repeat(9_999)}`],
    ['digits', '9'.repeat(10_000)],
    ['digits behind a point', `0.${'9'.repeat(9_998)}`],
    ['line breaks', `${'\n'.repeat(9_999)})`],
    ['surrogates', '\ud800'.repeat(10_000)],
    ['combining marks', '\u0301'.repeat(10_000)],
    ['a name of marks', `a${'\u0301'.repeat(9_000)} a`],
    ['a megabyte', '1+'.repeat(MEGABYTE)],
  ])('of %s is reported as a problem', (_name, text) => {
    expect(parseFormula(text)).toMatchObject({ ok: false });
  });

  it('passes through every tool at the limits', () => {
    const texts = [
      Array.from({ length: 199 }, () => 'a').join('+'),
      `[${Array.from({ length: 3_000 }, () => 'a').join(',')}]`,
      `${'f(x=>'.repeat(95)}1${')'.repeat(95)}`,
      `${'map([1],x=>'.repeat(60)}sum([1],'${'map([1],y=>'.repeat(60)}1${')'.repeat(60)}')${')'.repeat(60)}`,
      `a${'b'.repeat(9_000)}`,
      `"${'\\u{1F600}'.repeat(1_000)}"`,
    ];
    for (const text of texts) {
      const parsing = parseFormula(text);
      if (!parsing.ok) throw new Error(parsing.problem.message);
      expect(parseFormula(printNode(parsing.formula.root))).toMatchObject({ ok: true });
      expect(checkFormula(parsing.formula, { fields: new Set(['a']) })).toBeInstanceOf(Array);
      expect(formulaReferences(parsing.formula).fields.length).toBeLessThan(2);
      expect(typeof run(text).ok).toBe('boolean');
    }
  });

  it('is checked quickly with thousands of unknown names', () => {
    const parsing = parseFormula(`[${Array.from({ length: 900 }, (_, index) => `field${index}`).join(',')}]`);
    const fields = new Set(Array.from({ length: 1_000 }, (_, index) => `column_${index}`));
    if (!parsing.ok) throw new Error(parsing.problem.message);
    expect(checkFormula(parsing.formula, { fields })).toHaveLength(100);
  });
});

describe('F23: escapes', () => {
  const words = ['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__'];
  const globals = [
    'globalThis',
    'process',
    'require',
    'module',
    'Function',
    'eval',
    'Object',
    'this',
    'self',
    'window',
  ];

  it.each([...words, ...globals])('%s is an ordinary name', (word) => {
    const fields = { a: { b: {} }, list: [1], text: 'x' };
    for (const text of [
      word,
      `a.${word}`,
      `a["${word}"]`,
      `(a).${word}`,
      `list.${word}`,
      `text["${word}"]`,
      `(1).${word}`,
    ]) {
      expect(run(text, fields)).toEqual({ ok: true, value: null });
    }
    expect(codeOf(run(`${word}("return 1")`))).toBe('unknown_function');
    expect(codeOf(run(`$${word}(1)`))).toBe('unknown_function');
  });

  it('through own keys of the data read only the data', () => {
    const fields = { a: JSON.parse('{"__proto__": {"polluted": 1}, "constructor": {"name": "x"}}') };
    expect(run('a.__proto__.polluted', fields)).toEqual({ ok: true, value: 1 });
    expect(run('a.constructor.name', fields)).toEqual({ ok: true, value: 'x' });
    expect(run('a.polluted', fields)).toEqual({ ok: true, value: null });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('lead to no function value of the host', () => {
    const hostile = { call: () => 'called', then: () => 'called', toJSON: () => 'called', toString: () => 'called' };
    expect(codeOf(run('a.call', { a: hostile }))).toBe('wrong_type');
    expect(codeOf(run('"x" + a', { a: hostile }))).toBe('wrong_type');
    expect(codeOf(run('to_text(a)', { a: hostile }))).toBe('wrong_type');
    expect(codeOf(run('join([a])', { a: hostile }))).toBe('wrong_type');
    expect(codeOf(run('b[a]', { a: hostile, b: { called: 1 } }))).toBe('wrong_type');
  });
});

describe('F82: exploding strings', () => {
  it('stay within the budget if they double', () => {
    expect(codeOf(run('map(range(0, 1), x => length(a + a + a + a))', { a: megabyte }))).toBe('text_too_long');
    const multiplying = 'replace(replace(replace(replace(a, "a", a), "a", a), "a", a), "a", a)';
    expect(codeOf(run(multiplying, { a: 'a'.repeat(100) }))).toBe('text_too_long');
  });

  it('made one by one in a loop stay within the budget', () => {
    expect(codeOf(run('count(range(0, 100000), x => length(a + "b") > 0)', { a: 'a'.repeat(1_000) }))).toBe(
      'text_too_long',
    );
  });

  it('are refused before padding or joining makes them', () => {
    expect(codeOf(run('pad_end("a", 1000000000, "abc")'))).toBe('text_too_long');
    expect(codeOf(run('join(a, b)', { a: hundredThousand, b: megabyte }))).toBe('text_too_long');
    expect(codeOf(run('join(map(range(0, 1000), x => a), "")', { a: megabyte }))).toMatch(
      /text_too_long|steps_exhausted/,
    );
  });
});

describe('F81: reading large values repeatedly', () => {
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`key ${index}`, index]));
  const fields = {
    text: '€😀'.repeat(300_000),
    wide,
    same: { ...wide },
    none: {},
    holder: { text: '€'.repeat(900_000) },
  };

  it.each([
    'text.length > 0',
    'length(text) > 0',
    '(text).length > 0',
    'text["length"] > 0',
    'holder.text.length > 0',
    'count([text], y => y.length > 0) > 0',
    'sum([holder], "text.length") > 0',
    'is_empty(wide)',
    'none == wide',
    'wide == none',
    'wide == same',
    'length(keys(wide)) > 0',
    'length(values(wide)) > 0',
  ])('is charged by %s', (condition) => {
    expect(codeOf(run(`count(range(0, 20000), x => ${condition})`, fields))).toMatch(/^steps_exhausted$/);
  });
});

describe('F85: small values that expand to enormous ones', () => {
  it('are not answered', () => {
    expect(codeOf(run('map(range(0, 10000), x => a)', { a: megabyte }))).toBe('text_too_long');
    expect(codeOf(run('map(range(0, 10000), x => b)', { b: hundredThousand }))).toBe('text_too_long');
  });

  it('are compared, flattened, sorted and made distinct within bounds', () => {
    const doubled = (levels: number): unknown => {
      let value: unknown = [1];
      for (let level = 0; level < levels; level += 1) value = [value, value];
      return value;
    };
    const fields = { a: doubled(40), b: doubled(40), big: megabyte, other: `${megabyte.slice(1)}b` };
    expect(codeOf(run('a == b', fields))).toBe('steps_exhausted');
    expect(codeOf(run('a in [b, b]', fields))).toBe('steps_exhausted');
    expect(codeOf(run('unique([a, b])', fields))).toBe('steps_exhausted');
    expect(codeOf(run('flatten(flatten(a))', fields))).toMatch(/ok|text_too_long/);
    expect(codeOf(run('sort(map(range(0, 10000), x => x % 2 == 0 ? big : other))', fields))).toBe('steps_exhausted');
    expect(codeOf(run('unique(map(range(0, 10000), x => x % 2 == 0 ? big : other))', fields))).toBe('steps_exhausted');
    expect(codeOf(run('contains(map(range(0, 10000), x => big), other)', fields))).toBe('steps_exhausted');
    expect(codeOf(run('other in map(range(0, 10000), x => big)', fields))).toBe('steps_exhausted');
    expect(codeOf(run('count(range(0, 10000), x => big == other)', fields))).toBe('steps_exhausted');
    expect(codeOf(run('count(range(0, 10000), x => big < other)', fields))).toBe('steps_exhausted');
    expect(codeOf(run('count(range(0, 10000), x => starts_with(big, other))', fields))).toBe('steps_exhausted');
  });
});

describe('F87: a megabyte against every string function', () => {
  const unbounded = { steps: 1e9, textLength: 1e8, listLength: 1e7 };
  const period = 'ab'.repeat(MEGABYTE / 4);
  const strings = {
    same: megabyte,
    nearly: `${'a'.repeat(MEGABYTE / 4)}b${'a'.repeat(MEGABYTE / 4)}`,
    period: `${period}b${period}`,
    pairs: '😀'.repeat(MEGABYTE / 2),
    lone: '\ud83d'.repeat(MEGABYTE),
  };
  const stringFunctions = formulaFunctions.filter((entry) =>
    entry.parameters.some((parameter) => /string|any/.test(parameter.type)),
  );

  it.each(stringFunctions.map((entry) => [entry.name, entry] as const))('%s', (name, entry) => {
    const given = entry.parameters.map(({ type, optional: left }, index) => {
      if (type === 'regular expression') return "'^(a|aa)+$'";
      if (type === 'lambda') return 'x => x';
      if (/number/.test(type)) return left ? '3' : '500000';
      if (/^(list|object)/.test(type)) return index === 0 ? '[a, b]' : 'b';
      return index === 0 ? 'a' : 'b';
    });
    for (const a of Object.values(strings)) {
      for (const b of [strings.nearly, strings.period, megabyte, 'a', '']) {
        const text = `length(to_text(${name}(${given.join(', ')}))) >= 0`;
        expect(codeOf(run(text, { a, b }, unbounded))).not.toBe('host_failure');
        expect(codeOf(run(text, { a, b }))).not.toBe('host_failure');
      }
    }
  });

  it('a long string is searched in linear time', () => {
    const fields = { text: megabyte, sought: strings.nearly };
    expect(run('contains(text, sought)', fields)).toEqual({ ok: true, value: false });
    expect(run('sought in text', fields)).toEqual({ ok: true, value: false });
    expect(run('length(split(text, sought))', fields)).toEqual({ ok: true, value: 1 });
    expect(run('replace(text, sought, "") == text', fields)).toEqual({ ok: true, value: true });
  });

  it('as a key, a number, a date', () => {
    const fields = { a: megabyte, object: { [megabyte]: 1 } };
    expect(run('object[a]', fields)).toEqual({ ok: true, value: 1 });
    expect(run('to_number(a, 0)', fields)).toEqual({ ok: true, value: 0 });
    expect(codeOf(run('date(a)', fields))).toBe('invalid_value');
  });
});

describe('F55: regular expressions', () => {
  it.each([
    '^(a+)+$',
    '(x+x+)+y',
    '(a|a)*b',
    '(a*)*b',
    '(.*)(.*)(.*)(.*)(.*)[^a]',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(a?){100}a{100}b',
    '[^x]*a[^x]{15}c',
  ])('%s ends on a long text', (pattern) => {
    const outcome = run(`matches(a, '${pattern}')`, { a: `${'a'.repeat(20_000)}!` });
    expect(codeOf(outcome)).toMatch(/ok|steps_exhausted/);
  });

  it('cost steps by their size and the length of the text', () => {
    const fields = { short: 'a'.repeat(100), long: megabyte };
    const formula = (field: string): string => `matches(${field}, '(a|b)*a(a|b){14}c')`;
    expect(codeOf(run(formula('short'), fields))).toBe('ok');
    expect(codeOf(run(formula('long'), fields))).toBe('steps_exhausted');
  });

  it('compile quickly by the hundred', () => {
    const text = `[${Array.from({ length: 400 }, () => "matches(a,'a{900}')").join(',')}]`;
    expect(codeOf(run(text, { a: '' }))).toBe('formula_too_large');
  });
});

describe('F87: a hundred thousand elements against every list function', () => {
  const lists = {
    numbers: hundredThousand,
    backwards: hundredThousand.toReversed(),
    same: hundredThousand.map(() => 7),
    strings: hundredThousand.map((index) => `text ${index % 1_000}`),
    nothing: hundredThousand.map(() => null),
    objects: hundredThousand.map((index) => ({ id: index, tags: [index % 10] })),
    lists: hundredThousand.map((index) => [index % 100]),
    mixed: hundredThousand.map((index) => [index, `a${index}`, null, true, {}, []][index % 6]),
  };
  const unbounded = { steps: 1e9, textLength: 1e8, listLength: 1e6 };
  const listFunctions = formulaFunctions.filter((entry) => entry.parameters.some(({ type }) => /list|any/.test(type)));

  it.each(listFunctions.map((entry) => [entry.name, entry] as const))('%s', (name, entry) => {
    const given = entry.parameters.map(({ type }) => {
      if (/lambda/.test(type)) return 'x => x == 5';
      if (/number/.test(type)) return '5';
      if (/string/.test(type) && !/list/.test(type)) return "','";
      return 'a';
    });
    const required = entry.parameters.filter((parameter) => !parameter.optional).length;
    for (const a of Object.values(lists)) {
      for (let count = required; count <= given.length; count += 1) {
        const text = `is_null(${name}(${given.slice(0, count).join(', ')}))`;
        expect(codeOf(run(text, { a }, unbounded))).not.toBe('host_failure');
        expect(codeOf(run(text, { a }))).not.toBe('host_failure');
      }
    }
  });
});

describe('F87: deep data', () => {
  it('is passed on, compared and measured at any depth', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = level % 2 === 0 ? [deep] : { a: deep };
    const fields = { a: deep, b: structuredCloneDeep(deep) };
    for (const text of [
      'a',
      '[a]',
      'a == b',
      'a in [b]',
      'unique([a, b])',
      'flatten([a])',
      'is_empty(a)',
      'map([a], x => x.a)',
    ]) {
      expect(codeOf(run(text, fields, { steps: 1e7 }))).toBe('ok');
    }
  });
});

/** A copy of nested one-member lists and objects, made without recursion. */
const structuredCloneDeep = (value: unknown): unknown => {
  const shells: ('list' | 'object')[] = [];
  let inner = value;
  while (typeof inner === 'object' && inner !== null) {
    shells.push(Array.isArray(inner) ? 'list' : 'object');
    inner = Array.isArray(inner) ? (inner[0] as unknown) : (inner as { a: unknown }).a;
  }
  let copy = inner;
  for (const shell of shells.reverse()) copy = shell === 'list' ? [copy] : { a: copy };
  return copy;
};
