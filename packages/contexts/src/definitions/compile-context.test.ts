import {
  base,
  customersAndOrders,
  definition,
  type DefinitionParts,
  derived,
  relationship,
  world,
} from '../../test/fixtures';
import { compileContext } from './compile-context';
import { type ContextProblem, type ContextWorld } from './context-model';

const problemsOf = (parts: DefinitionParts, others?: ContextWorld): readonly ContextProblem[] => {
  const own = definition(parts);
  const compilation = compileContext(own, others ?? world([own]));
  return compilation.ok ? [] : compilation.problems;
};
const codesOf = (parts: DefinitionParts): string[] => problemsOf(parts).map(({ code, path }) => `${code} ${path}`);

it('compiles a context', () => {
  const { customers, world: both } = customersAndOrders();
  const compilation = compileContext(customers, both);
  expect(compilation).toMatchObject({ ok: true, model: { identity: { key: 'id', type: 'string' } } });
  if (!compilation.ok) return;
  expect([...compilation.model.facts.keys()]).toEqual(['id', 'name', 'vip']);
  expect(compilation.model.derivedNames).toEqual(['spent', 'order_count']);
  expect([...compilation.model.relations.keys()]).toEqual(['orders']);
});

describe('C1: problems', () => {
  it('are all reported at once, with code, position and message', () => {
    const problems = problemsOf({
      identityFact: 'nothing',
      base: [...base({ 'a.b': 'string', twice: 'number' }), { key: 'bad', type: 'number', default_value: 'x' }],
      derived: [...derived({ twice: '1', typo: 'totl + 1', broken: '1 +' })],
    });
    expect(problems.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'invalid_name /schema/base/1/key',
      'default_mismatch /schema/base/3/default_value',
      'duplicate_name /schema/derived/0/key',
      'identity_unknown /identity_fact',
      'formula_invalid /schema/derived/1/expression',
      'formula_invalid /schema/derived/2/expression',
    ]);
    for (const { message } of problems) expect(message).toMatch(/^[A-Z].*\.$/s);
  });

  it('are limited to 100', () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`d${index}`, 'missing + 1']));
    expect(problemsOf({ derived: derived(many) })).toHaveLength(100);
  });
});

describe('C1: many facts', () => {
  const MANY = 20_000;
  const many = (formula: (index: number) => string) =>
    derived(Object.fromEntries(Array.from({ length: MANY }, (_, index) => [`d${index}`, formula(index)])));

  it('compile', () => {
    const facts = Object.fromEntries(Array.from({ length: MANY }, (_, index) => [`f${index}`, 'number' as const]));
    expect(problemsOf({ base: base(facts), derived: many((index) => `f${index} + 1`) })).toEqual([]);
  });

  it('are not caused by reading whole instances of a context with as many facts', () => {
    const orders = definition({
      id: 'orders',
      slug: 'orders',
      base: base({ customer_id: 'string' }),
      derived: many(() => '1'),
    });
    const customers = definition({ id: 'customers', slug: 'customers', derived: many(() => '$orders') });
    const both = world([customers, orders], [relationship({ name: 'orders' })]);
    expect(compileContext(customers, both)).toMatchObject({ ok: true });
  });

  it('have short messages even if each names one of many unknown facts', () => {
    const long = 'x'.repeat(40);
    const problems = problemsOf({ derived: many((index) => `${long}${index} + ${long}`) });
    expect(problems).toHaveLength(100);
  });

  it('are named in part if they form one long cycle', () => {
    const [problem] = problemsOf({ derived: many((index) => `d${(index + 1) % MANY}`) });
    expect(problem).toMatchObject({ code: 'cycle' });
    expect(problem?.message).toContain('d0 -> d1 -> d2');
    expect(problem?.message).toMatch(/ -> \(19,981 more\) -> d0\.$/);
  });
});

it('C2: names are unique among base and derived facts', () => {
  expect(codesOf({ base: base({ a: 'string' }), derived: derived({ a: '1' }) })).toEqual([
    'duplicate_name /schema/derived/0/key',
  ]);
  expect(codesOf({ base: base({ constructor: 'string', toString: 'number' }) })).toEqual([]);
});

describe('C3: the identity fact', () => {
  it.each([
    [{ identityFact: 'other' }, 'identity_unknown'],
    [{ identityFact: 'flag', base: base({ flag: 'boolean' }) }, 'identity_unsuitable'],
    [{ identityFact: 'd', derived: derived({ d: '"x"' }) }, 'identity_unknown'],
    [{ identityFact: 'n', base: [{ key: 'n', type: 'number', default_value: 1 }] }, 'identity_unsuitable'],
    [{ identityFact: 'n', base: [{ key: 'n', type: 'number', output_only: true }] }, 'identity_unsuitable'],
    [
      { identityFact: 'n', base: [{ key: 'n', type: 'string', values_only: true, values_collection: 'c' }] },
      'identity_unsuitable',
    ],
  ] satisfies [DefinitionParts, string][])('%j: %s', (parts, code) => {
    expect(problemsOf(parts).map((problem) => problem.code)).toEqual([code]);
  });

  it('may be a number', () => {
    expect(codesOf({ identityFact: 'n', base: base({ n: 'number!' }) })).toEqual([]);
  });
});

it('C4: defaults have the type of their fact and can be stored', () => {
  expect(codesOf({ base: [{ key: 'a', type: 'date', default_value: 'soon' }] })).toEqual([
    'default_mismatch /schema/base/1/default_value',
  ]);
  expect(codesOf({ base: [{ key: 'a', type: 'string', default_value: 'a\u0000' }] })).toEqual([
    'default_mismatch /schema/base/1/default_value',
  ]);
  expect(codesOf({ base: [{ key: 'a', type: 'date', default_value: null }] })).toEqual([]);
  expect(codesOf({ derived: [{ key: 'a', type: 'number', expression: '1', default_value: 'x' }] })).toEqual([
    'default_mismatch /schema/derived/0/default_value',
  ]);
});

it('C5: values_only needs a collection and a type that has members', () => {
  expect(codesOf({ base: [{ key: 'a', type: 'string', values_only: true }] })).toHaveLength(1);
  expect(codesOf({ base: [{ key: 'a', type: 'object', values_only: true, values_collection: 'c' }] })).toHaveLength(1);
  expect(codesOf({ base: [{ key: 'a', type: 'list', values_only: true, values_collection: 'c' }] })).toEqual([]);
});

it('C6: a base fact of type function is a derived fact', () => {
  const double = { key: 'double', type: 'function' as const, expression: 'n * 2' };
  const own = definition({ base: [...base({ n: 'number' }), double] });
  const compilation = compileContext(own, world([own]));
  expect(compilation).toMatchObject({ ok: true, model: { derivedNames: ['double'] } });
  expect(codesOf({ base: [{ key: 'a', type: 'function' }] })).toEqual(['expression_misplaced /schema/base/1']);
  expect(codesOf({ base: [{ key: 'a', type: 'number', expression: '1' }] })).toEqual([
    'expression_misplaced /schema/base/1/expression',
  ]);
  expect(codesOf({ base: [{ key: 'a', type: 'function', expression: '1', required: true }] })).toEqual([
    'setting_misplaced /schema/base/1/required',
  ]);
});

describe('C7: formulas of derived facts', () => {
  const facts = {
    base: [
      ...base({ quantity: 'number', price: 'number', address: 'object' }),
      { key: 'score', type: 'number' as const, track_history: true },
    ],
  };
  const formulaProblems = (expression: string): string[] =>
    problemsOf({ ...facts, derived: derived({ d: expression }) }).map(({ message }) => message);

  it.each([
    'quantity * price',
    'address.city',
    'ifelse(quantity > 1, "many", "one")',
    'previous("score")',
    "avg(history('score'), 'value')",
    'format_date(now())',
  ])('may be %s', (expression) => {
    expect(formulaProblems(expression)).toEqual([]);
  });

  it.each([
    ['quantty', 'did you mean quantity'],
    ['$orders', 'there is no field $orders'],
    ['sum($relations.orders, "total")', 'there is no field'],
    ['$discount(quantity)', 'no function value'],
    ['history("price")', 'not tracked'],
    ['previous(price)', 'must name the fact'],
    ['history("score", 1)', 'argument'],
    ['history("nothing")', 'not tracked'],
    ['exec("x")', 'no function exec'],
  ])('may not be %s: %s', (expression, reason) => {
    expect(formulaProblems(expression).join()).toContain(reason);
  });

  it('name a relationship after $relations', () => {
    const { customers, orders } = customersAndOrders();
    const own = { ...customers, schema: { ...customers.schema, derived: derived({ d: 'count($relations)' }) } };
    expect(compileContext(own, world([own, orders], [relationship({ name: 'orders' })]))).toMatchObject({
      problems: [{ code: 'formula_invalid', message: expect.stringContaining('must name a relationship') }],
    });
  });

  it('carry the position of a problem', () => {
    const [problem] = problemsOf({ ...facts, derived: derived({ d: 'quantity + pric' }) });
    expect(problem).toMatchObject({ formula: { code: 'unknown_field', position: 11, length: 4 } });
  });
});

describe('C8: cycles within a context', () => {
  it.each([
    [{ a: 'a + 1' }, 'a -> a'],
    [{ a: 'b', b: 'c', c: 'a' }, 'a -> b -> c -> a'],
    [{ start: 'a', a: 'b', b: 'a' }, 'a -> b -> a'],
  ])('%j are shown as %s', (formulas, path) => {
    const problems = problemsOf({ derived: derived(formulas) });
    expect(problems.map(({ code }) => code)).toEqual(['cycle']);
    expect(problems[0]?.message).toContain(`: ${path}.`);
  });

  it('do not include facts that are read twice, nor chains of 500', () => {
    expect(codesOf({ derived: derived({ a: 'b + c', b: 'd', c: 'd', d: '1' }) })).toEqual([]);
    const chain = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`d${index}`, index < 499 ? `d${index + 1}` : '1']),
    );
    expect(codesOf({ derived: derived(chain) })).toEqual([]);
  });
});

describe('C9: cycles through relationships', () => {
  const across = (spent: string, net: string): readonly ContextProblem[] => {
    const customers = definition({
      slug: 'customers',
      derived: derived({ total: spent, discount: 'ifelse(total > 9, 1, 0)' }),
    });
    const orders = definition({
      slug: 'orders',
      base: base({ customer_id: 'string', gross: 'number' }),
      derived: derived({ net }),
    });
    const relationships = [
      relationship({ name: 'orders' }),
      relationship({ name: 'customer', type: 'belongs_to', fromContextId: 'orders', toContextId: 'customers' }),
    ];
    const both = world([customers, orders], relationships);
    const [first, second] = [customers, orders].map((context) => compileContext(context, both));
    expect(first?.ok).toBe(second?.ok);
    return first?.ok === false ? first.problems : [];
  };

  it.each([
    ["sum($orders, 'net')", 'gross - $customer.discount'],
    ['sum(map($orders, o => o.net))', 'gross - $relations.customer.discount'],
    ["sum(filter($orders, 'gross > 1'), 'net')", 'gross - ($customer).discount'],
    ["sum($orders, 'gross - net')", 'gross - $customer["discount"]'],
    ['first($orders).net', 'gross - $customer.discount'],
    ['count($orders, o => o.net > 1)', 'gross - $customer.discount'],
  ])('are refused: %s with %s', (spent, net) => {
    expect(across(spent, net)).toHaveLength(1);
  });

  it('are shown as their path', () => {
    const [problem] = across("sum($orders, 'net')", 'gross - $customer.discount');
    expect(problem?.message).toContain('customers.total -> orders.net -> customers.discount -> customers.total');
  });

  it.each([
    ['list($orders)', '$customer.total'],
    ['map($orders, o => o)', '$customer.total'],
    ['first($orders)', 'gross + length(keys($customer))'],
  ])('include formulas that may answer whole instances: %s with %s', (spent, net) => {
    expect(across(spent, net).map(({ code }) => code)).toEqual(['cycle']);
  });

  it.each([
    ["sum($orders, 'gross')", 'gross - $customer.discount'],
    ['count($orders)', 'gross - $customer.discount'],
    ['length(list($orders))', 'gross + length(keys($customer))'],
    ["avg($orders, 'net')", 'gross * 2'],
    ["last($orders, 'gross')", 'gross - $customer.discount'],
    ['sum(map($orders, o => o.gross))', 'gross - $customer.discount'],
    ["length(filter($orders, 'gross > 10'))", 'gross - $customer.total'],
  ])('are not reported when there are none: %s with %s', (spent, net) => {
    expect(across(spent, net)).toEqual([]);
  });
});

describe('C10: relationships', () => {
  const codes = (parts: Partial<Parameters<typeof relationship>[0]>): string[] => {
    const { customers, orders } = customersAndOrders();
    const plain = definition({ slug: 'customers', base: base({ flag: 'boolean' }) });
    const own = { ...customers, schema: plain.schema };
    const compilation = compileContext(own, world([own, orders], [relationship({ name: 'orders', ...parts })]));
    return compilation.ok ? [] : compilation.problems.map(({ code }) => code);
  };

  it.each([
    [{}, []],
    [{ toContextId: 'nowhere' }, ['context_unknown']],
    [{ foreignKeyFact: 'nothing' }, ['foreign_key_unsuitable']],
    [{ type: 'belongs_to' }, ['foreign_key_unsuitable']],
    [{ type: 'belongs_to', foreignKeyFact: 'flag' }, ['foreign_key_unsuitable']],
    [{ type: 'belongs_to', foreignKeyFact: 'id' }, []],
    [{ type: 'has_one' }, []],
    [{ name: 'relations' }, ['invalid_name']],
  ] as const)('%j: %j', (parts, expected) => {
    expect(codes(parts)).toEqual(expected);
  });

  it('have unique names', () => {
    const { customers, orders } = customersAndOrders();
    const twice = [relationship({ name: 'orders' }), relationship({ name: 'orders', id: 'again' })];
    expect(compileContext(customers, world([customers, orders], twice))).toMatchObject({
      ok: false,
      problems: [{ code: 'duplicate_name', path: '/relationships/orders' }],
    });
  });
});
