import { answer, compiled, graph, node, problemsOf, solve } from './support/flows';

const flagged = node('gate:ifelse', { condition: { property: 'flag', operator: 'is true' } });
const item = [
  { key: 'n', type: 'number' },
  { key: 'flag', type: 'boolean' },
];
const each = node('each:foreach', { outputs: item });
const doubled = [each, node('double:rule', { rule: 'double' })];
const things = [{ n: 1, flag: true }, { n: 2, flag: false }, { n: 3, flag: true }, { flag: true }];

describe('loops', () => {
  it('FL-40 run dependent nodes once per item, in order', () => {
    const flow = graph(
      [...doubled, node('all:aggregate', { mode: 'items' }), node('out:result')],
      `in.request_list -> each
       each.n -> double.n
       double.twice -> all
       each.index -> all
       all.items -> out`,
    );
    expect(answer(solve(flow, { list: things.slice(0, 3) }))).toEqual({
      items: [
        { twice: 2, index: 0 },
        { twice: 4, index: 1 },
        { twice: 6, index: 2 },
      ],
    });
  });

  it('FL-41 give their nodes values from outside the loop, in any document order', () => {
    const flow = graph(
      [
        each,
        node('add:rule', { rule: 'add' }),
        node('all:aggregate'),
        node('out:result'),
        node('late:rule', { rule: 'double' }),
      ],
      `in.request_list -> each
       each.n -> add.a
       late.twice -> add.b
       in.request_n -> late.n
       add.sum -> all
       all.sum -> out`,
    );
    expect(answer(solve(flow, { n: 50, list: [{ n: 1 }, { n: 2 }] }))).toEqual({ sum: [101, 102] });
  });

  it('FL-41 refuse a node in two loops that are not nested', () => {
    const flow = graph(
      [each, node('other:foreach', { outputs: item }), node('add:rule', { rule: 'add' }), node('out:result')],
      `in.request_list -> each
       in.request_list -> other
       each.n -> add.a
       other.n -> add.b
       in.seen -> out`,
    );
    expect(problemsOf(flow)).toEqual([
      {
        code: 'invalid_loop',
        message:
          'The node "add" is in the loops "other" and "each" at the same time; close one of them with an aggregate first.',
        path: '/nodes/3',
        ref: 'add',
      },
    ]);
  });

  it('FL-41 refuse to depend on their own results', () => {
    const flow = graph(
      [
        ...doubled,
        node('all:aggregate', { aggregations: { twice: { operator: 'sum' } } }),
        node('add:rule', { rule: 'add' }),
        node('out:result', { key: 'x' }),
      ],
      `in.request_list -> each
       each.n -> double.n
       double.twice -> all
       all.twice -> add.a
       each.n -> add.b
       add.sum -> out`,
    );
    expect(problemsOf(flow)).toMatchObject([{ code: 'cycle', message: expect.stringContaining('"each"') as string }]);
  });

  it('FL-42 nest, and an aggregate closes the innermost', () => {
    const flow = graph(
      [
        node('orders:foreach', { outputs: [{ key: 'lines', type: 'list' }] }),
        node('lines:foreach', { outputs: item }),
        node('double:rule', { rule: 'double' }),
        node('perOrder:aggregate', { aggregations: { twice: { operator: 'sum' } } }),
        node('total:aggregate', { aggregations: { twice: { operator: 'max' } } }),
        node('out:result'),
      ],
      `in.request_list -> orders
       orders.lines -> lines
       lines.n -> double.n
       double.twice -> perOrder
       perOrder.twice -> total
       total.twice -> out`,
    );
    expect(
      answer(solve(flow, { list: [{ lines: [{ n: 1 }, { n: 2 }] }, { lines: [{ n: 5 }] }, { lines: [] }] })),
    ).toEqual({
      twice: 10,
    });
  });

  const summing = (extra: Readonly<Record<string, unknown>> = {}, wiring = '') =>
    graph(
      [
        ...doubled,
        flagged,
        node('all:aggregate', { aggregations: { twice: { operator: 'sum' }, n: { operator: 'count' } }, ...extra }),
        node('out:result'),
      ],
      `in.request_list -> each
       each.n -> double.n
       double.twice -> all
       each.n -> all
       each.flag -> gate
       ${wiring}
       all.twice -> out
       all.n -> out`,
    );

  it('FL-42, FL-81 nest over ten thousand items, in order, within the steps of a run', () => {
    const flow = graph(
      [
        node('outer:foreach', { outputs: [{ key: 'lines', type: 'list' }] }),
        node('inner:foreach', { outputs: item }),
        node('double:rule', { rule: 'double' }),
        node('perOuter:aggregate', {}),
        node('all:aggregate', {}),
        node('out:result'),
      ],
      `in.request_list -> outer
       outer.lines -> inner
       inner.n -> double.n
       double.twice -> perOuter
       perOuter.twice -> all
       all.twice -> out`,
    );
    const numbers = Array.from({ length: 100 }, (_, index) => index);
    const list = numbers.map((outer) => ({ lines: numbers.map((inner) => ({ n: 100 * outer + inner })) }));
    const expected = numbers.map((outer) => numbers.map((inner) => 2 * (100 * outer + inner)));
    expect(answer(solve(flow, { list }))).toEqual({ twice: expected });
    expect(answer(solve(flow, { list }, { maxSteps: 10_000 }))).toMatch(/10000 steps|10,000 steps/);
  });

  it('FL-43 run for no item of an empty or missing list, and fail on anything else', () => {
    expect(answer(solve(summing(), { list: [] }))).toEqual({ twice: 0, n: 0 });
    expect(answer(solve(summing(), {}))).toEqual({ twice: 0, n: 0 });
    expect(answer(solve(summing(), { list: null }))).toEqual({ twice: 0, n: 0 });
    const run = solve(summing(), { list: { n: 1 } });
    expect(run).toMatchObject({
      ok: false,
      error: {
        code: 'evaluation_failed',
        message: 'The node "each" failed: The input "list" must be of type list, not object.',
        path: ['each'],
        details: { reason: 'wrong_type', field: 'list', expected: 'list', came: 'object' },
      },
    });
  });

  it('FL-44 leave out items whose gates to the aggregate are shut, and those without a value', () => {
    const list = things.slice(0, 3);
    expect(answer(solve(summing({}, 'gate => all'), { list }))).toEqual({ twice: 8, n: 2 });
    expect(answer(solve(summing({}, 'gate => double'), { list }))).toEqual({ twice: 8, n: 3 });
    expect(answer(solve(itemsOf('gate => double'), { list }))).toEqual({ items: [{ twice: 2 }, { twice: 6 }] });
    expect(answer(solve(itemsOf('gate => all'), { list }))).toEqual({ items: [{ twice: 2 }, { twice: 6 }] });
  });

  const itemsOf = (wiring: string) =>
    graph(
      [...doubled, flagged, node('all:aggregate', { mode: 'items' }), node('out:result')],
      `in.request_list -> each
       each.n -> double.n
       double.twice -> all
       each.flag -> gate
       ${wiring}
       all.items -> out`,
    );

  it('FL-44 are gated as a whole from outside', () => {
    const flow = graph(
      [...doubled, node('gate:ifelse'), node('all:aggregate'), node('out:result')].map((one) =>
        one.ref === 'gate' ? { ...one, condition: { operator: 'is true' } } : one,
      ),
      `in.request_flag -> gate
       gate => all
       in.request_list -> each
       each.n -> double.n
       double.twice -> all
       all.twice -> out
       in.seen -> out`,
    );
    expect(answer(solve(flow, { flag: true, list: [{ n: 1 }] }))).toEqual({ twice: [2], seen: true });
    expect(answer(solve(flow, { flag: false, list: [{ n: 1 }] }))).toEqual({ seen: true });
  });

  it.each([
    ['sum', 6, 0],
    ['average', 2, undefined],
    ['min', 1, undefined],
    ['max', 3, undefined],
    ['count', 3, 0],
    ['list', [1, 2, 3], []],
    ['first', 1, undefined],
    ['last', 3, undefined],
    [undefined, [1, 2, 3], []],
  ])('FL-45 aggregate by %s', (operator, expected, ofNothing) => {
    const flow = graph(
      [
        each,
        node('all:aggregate', { aggregations: operator === undefined ? {} : { n: { operator } } }),
        node('out:result'),
      ],
      `in.request_list -> each
       each.n -> all
       all.n -> out`,
    );
    const plan = compiled(flow);
    expect(answer(solve(plan, { list: [{ n: 1 }, { n: 2 }, {}, { n: null }, { n: 3 }] }))).toEqual({ n: expected });
    expect(answer(solve(plan, { list: [{}] }))).toEqual(ofNothing === undefined ? {} : { n: ofNothing });
  });

  it('FL-45 refuse to sum anything but numbers', () => {
    const flow = graph(
      [
        node('each:foreach'),
        node('all:aggregate', { aggregations: { item: { operator: 'sum' } } }),
        node('out:result'),
      ],
      `in.request_list -> each
       each.item -> all
       all.item -> out`,
    );
    expect(answer(solve(flow, { list: [1, '2'] }))).toMatch(
      /The node "all" failed: "item", of which the sum is asked, must be of type number/,
    );
    expect(answer(solve(flow, { list: [1e308, 1e308] }))).toMatch(/The sum of "item" is larger than any number/);
  });

  it('FL-46 make one object of the values of each item', () => {
    expect(answer(solve(itemsOf(''), { list: [{ n: 1 }, { n: 2 }] }))).toEqual({ items: [{ twice: 2 }, { twice: 4 }] });
  });

  it('FL-47 count items for which all filters hold', () => {
    const filters = [
      { property: 'n', operator: 'greater than', args: [1] },
      { property: 'twice', operator: 'less than', args: [6] },
    ];
    expect(answer(solve(summing({ filters }), { list: things.slice(0, 3) }))).toEqual({ twice: 4, n: 1 });
    expect(problemsOf(summing({ filters: [{ property: 'other', operator: 'truthy' }] }))).toMatchObject([
      { code: 'invalid_condition', ref: 'all', path: '/nodes/4/filters/0' },
    ]);
  });

  it('FL-48 answer a list of the values of their results', () => {
    const flow = graph(
      [
        node('orders:foreach', { outputs: [{ key: 'lines', type: 'list' }] }),
        node('lines:foreach', { outputs: item }),
        node('gate:ifelse', { condition: { operator: 'greater than', args: [1] } }),
        node('out:result', { key: 'large' }),
      ],
      `in.request_list -> orders
       orders.lines -> lines
       lines.n -> gate
       gate => out
       lines.n -> out`,
    );
    const list = [{ lines: [{ n: 1 }, { n: 2 }, { n: 3 }] }, { lines: [] }, { lines: [{ n: 4 }] }];
    expect(answer(solve(flow, { list }))).toEqual({ large: [{ n: 2 }, { n: 3 }, { n: 4 }] });
    expect(answer(solve(flow, { list: [] }))).toEqual({ large: [] });
    const [, ...rest] = flow.nodes;
    const keyless = graph(
      rest.map((one) => (one.ref === 'out' ? node('out:result') : one)),
      '',
    );
    expect(problemsOf({ ...keyless, connections: flow.connections ?? [] })).toMatchObject([
      { code: 'colliding_results', ref: 'out', field: 'key' },
    ]);
  });

  it('FL-49 name the item in every error', () => {
    const flow = graph(
      [
        node('orders:foreach', { outputs: [{ key: 'lines', type: 'list' }] }),
        node('lines:foreach', { outputs: item }),
        node('out:result', { key: 'x' }),
      ],
      `in.request_list -> orders
       orders.lines -> lines
       lines.n -> out`,
    );
    const run = solve(flow, { list: [{ lines: [] }, { lines: [{ n: 1 }, { n: 'two' }] }] });
    expect(run).toMatchObject({
      ok: false,
      error: {
        message: 'The node "out" (item 1, 1) failed: The member "n" of item 1 must be of type number, not string.',
        indexes: [1, 1],
        path: ['out'],
      },
    });
  });

  it('FL-42 refuse an aggregate that closes no loop, or takes a value from outside it', () => {
    const none = graph([node('all:aggregate'), node('out:result')], 'in.request_n -> all\nall.request_n -> out');
    expect(problemsOf(none)).toMatchObject([{ code: 'invalid_loop', ref: 'all' }]);
    const stray = graph(
      [each, node('all:aggregate'), node('out:result')],
      'in.request_list -> each\neach.n -> all\nin.request_n -> all\nall.n -> out',
    );
    expect(problemsOf(stray)).toMatchObject([
      {
        code: 'invalid_loop',
        ref: 'all',
        message: expect.stringContaining('from outside of the loop "each"') as string,
      },
    ]);
  });
});
