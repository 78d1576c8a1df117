import { answer, compiled, graph, node, problemsOf, rules, solve } from './support/flows';

const gate = (ref: string, property: string) => node(`${ref}:ifelse`, { condition: { property, operator: 'is true' } });

describe('answers', () => {
  it('FL-60 consist of the values of results, under their keys and names', () => {
    const flow = graph(
      [
        node('plain:result'),
        node('keyed:result', { key: 'data.inner', keyMappings: { request_n: 'number', request_name: 'person.name' } }),
      ],
      `in.seen -> plain
       in.request_n -> keyed
       in.request_name -> keyed`,
    );
    expect(answer(solve(flow, { n: 1, name: 'Ada' }))).toEqual({
      seen: true,
      data: { inner: { number: 1, person: { name: 'Ada' } } },
    });
    expect(answer(solve(flow, {}))).toEqual({ seen: true, data: { inner: {} } });
  });

  it('FL-61 merge objects, and otherwise the last in document order wins', () => {
    const flow = graph(
      [
        node('first:result', { key: 'a' }),
        node('double:rule', { rule: 'double' }),
        node('second:result', { key: 'a', keyMappings: { twice: 'n' } }),
        node('third:result', { key: 'a.more' }),
      ],
      `in.request_n -> double.n
       in.request_n -> first.n
       in.request_n -> first.m
       double.twice -> second
       in.seen -> third`,
    );
    expect(answer(solve(flow, { n: 2 }))).toEqual({ a: { n: 4, m: 2, more: { seen: true } } });
  });

  it('FL-61 refuse one key for results of different loops', () => {
    const flow = graph(
      [node('each:foreach'), node('inside:result', { key: 'a' }), node('outside:result', { key: 'a' })],
      `in.request_list -> each
       each.item -> inside
       in.seen -> outside`,
    );
    expect(problemsOf(flow)).toMatchObject([
      { code: 'colliding_results', ref: 'outside', field: 'key', path: '/nodes/3/key' },
    ]);
  });

  it('FL-60 share no object with the caller', () => {
    const flow = compiled(
      graph([node('a:result', { key: 'k' }), node('b:result', { key: 'k' })], 'in.seen -> a.x\nin.seen -> b.y'),
    );
    const first = answer(solve(flow)) as { k: Record<string, unknown> };
    first.k['x'] = 'changed';
    expect(answer(solve(flow))).toEqual({ k: { x: true, y: true } });
  });

  const exiting = (fields: object = {}) =>
    graph(
      [
        gate('no', 'request_flag'),
        node('early:result', { key: 'early', immediateExit: true, ...fields }),
        node('late:result', { key: 'late' }),
        node('never:rule', { rule: 'fail' }),
        node('also:result'),
      ],
      `in.request_flag -> no
       no => early
       in.request_n -> early.n
       in.request_n -> late.n
       in.request_n -> never.n
       never.never -> also`,
    );

  it('FL-62 end with the answer of an exit, and nothing after it begins', () => {
    // After the exit comes a rule that cannot be evaluated.
    expect(answer(solve(exiting(), { n: 1, flag: true }))).toEqual({ early: { n: 1 } });
    expect(answer(solve(exiting(), { n: 1, flag: false }))).toMatch(/The node "never" failed/);
  });

  it.each([
    ['{"declined": true}', { declined: true }],
    ['declined', { early: 'declined' }],
    ['[1]', { early: '[1]' }],
    ['', { early: { n: 1 } }],
  ])('FL-62 end with the data of an exit: %j', (customExitData, expected) => {
    expect(answer(solve(exiting({ customExitData }), { n: 1, flag: true }))).toEqual(expected);
  });

  it('FL-62 put an exit text under "data" if the result has no key', () => {
    expect(answer(solve(exiting({ customExitData: 'no', key: '' }), { flag: true }))).toEqual({ data: 'no' });
  });

  it('FL-63 end with the first exit of a loop', () => {
    const flow = graph(
      [
        node('each:foreach', { outputs: [{ key: 'n', type: 'number' }] }),
        node('large:ifelse', { condition: { operator: 'greater than', args: [10] } }),
        node('out:result', { key: 'found', immediateExit: true }),
        node('none:result', { key: 'none' }),
      ],
      `in.request_list -> each
       each.n -> large
       large => out
       each.n -> out
       each.index -> out
       in.seen -> none`,
    );
    expect(answer(solve(flow, { list: [{ n: 1 }, { n: 20 }, { n: 30 }] }))).toEqual({ found: { n: 20, index: 1 } });
    // Items after it are not evaluated; this one would fail.
    expect(answer(solve(flow, { list: [{ n: 20 }, { n: 'x' }] }))).toEqual({ found: { n: 20, index: 0 } });
    expect(answer(solve(flow, { list: [{ n: 1 }] }))).toEqual({ none: { seen: true }, found: [] });
  });

  const inner = compiled(exiting(), 'inner');

  it('FL-64 let an exit end only its subflow', () => {
    const flow = graph(
      [node('sub:flow', { flow: 'inner', version: 1 }), node('out:result')],
      `in.request_n -> sub.n
       in.request_flag -> sub.flag
       sub.early -> out
       in.seen -> out`,
    );
    const outer = compiled(flow, 'outer', [inner]);
    expect(answer(solve(outer, { n: 7, flag: true }))).toEqual({ early: { n: 7 }, seen: true });
  });

  it('FL-64 run subflows inside loops, each item separately', () => {
    const flow = graph(
      [
        node('each:foreach', { outputs: [{ key: 'n', type: 'number' }] }),
        node('sub:subflow', { flow: 'doubling/1', outputs: [{ key: 'data.twice', type: 'number' }] }),
        node('all:aggregate', { aggregations: { 'data.twice': { operator: 'sum' } } }),
        node('out:result'),
      ],
      `in.request_list -> each
       each.n -> sub.n
       sub.data.twice -> all
       all.data.twice -> out.total`,
    );
    const doubling = compiled(
      graph(
        [node('double:rule', { rule: 'double' }), node('out:result', { key: 'data' })],
        'in.request_n -> double.n\ndouble.twice -> out',
      ),
      'doubling',
    );
    expect(answer(solve(compiled(flow, 'outer', [doubling]), { list: [{ n: 1 }, { n: 2 }, { n: 3 }] }))).toEqual({
      total: 12,
    });
  });

  it('FL-86 are bounded as those of rules', () => {
    const flow = graph(
      [node('outer:foreach'), node('inner:foreach'), node('out:result', { key: 'lists' })],
      `in.request_list -> outer
       in.request_list -> inner
       outer.index -> out.i
       inner.index -> out.j
       in.request_list -> out.all`,
    );
    // Neither of two loops over the same list is nested in the other.
    expect(problemsOf(flow)).toMatchObject([{ code: 'invalid_loop' }]);
    const wide = graph(
      [node('each:foreach'), node('out:result', { key: 'lists' })],
      'in.request_list -> each\nin.request_list -> out.all\neach.index -> out',
    );
    const list = Array.from({ length: 4_000 }, (_, index) => index);
    expect(answer(solve(wide, { list: list.slice(0, 1_000) }))).toHaveProperty('lists');
    expect(answer(solve(wide, { list }))).toBe(
      'evaluation_failed: The answer of the flow is larger than 10000000 elements and characters.',
    );
  });
});

describe('lookups', () => {
  const table = [
    { key: 'gold', value: 0.2 },
    { key: 'silver', value: 0.1 },
    { key: 'gold', value: 9 },
    { key: ['a', 1], value: 'list' },
    { key: '7', value: '8' },
    { key: 'true', value: 'false' },
  ];
  const looked = (fields: object, wire: string, input: unknown) =>
    answer(
      solve(
        graph(
          [node('table:lookup_table', { table, ...fields }), node('out:result')],
          `${wire} -> table\ntable.value -> out\nin.seen -> out`,
        ),
        input,
      ),
    );

  it('FL-70 answer the first row whose key is equal', () => {
    expect(looked({}, 'in.request_name', { name: 'gold' })).toEqual({ value: 0.2, seen: true });
    expect(looked({}, 'in.request_list', { list: ['a', 1] })).toEqual({ value: 'list', seen: true });
    expect(looked({}, 'in.request_list', { list: ['a', '1'] })).toEqual({ seen: true });
  });

  it('FL-70 answer the default, or nothing', () => {
    expect(looked({ defaultValue: 0 }, 'in.request_name', { name: 'bronze' })).toEqual({ value: 0, seen: true });
    expect(looked({}, 'in.request_name', { name: 'bronze' })).toEqual({ seen: true });
    expect(looked({ defaultValue: 0 }, 'in.request_name', {})).toEqual({ value: 0, seen: true });
    expect(looked({}, 'in.request_name', { name: 'toString' })).toEqual({ seen: true });
  });

  it('FL-70 convert texts of the table to the declared types', () => {
    expect(looked({ keyType: 'number', valueType: 'number' }, 'in.request_n', { n: 7 })).toEqual({
      value: 8,
      seen: true,
    });
    expect(looked({}, 'in.request_n', { n: 7 })).toEqual({ seen: true });
    expect(looked({ keyType: 'boolean', valueType: 'boolean' }, 'in.request_flag', { flag: true })).toEqual({
      value: false,
      seen: true,
    });
  });
});

describe('values on edges', () => {
  it('FL-30 check inputs of rules and subflows against the types of their fields', () => {
    const flow = graph(
      [node('each:foreach'), node('double:rule', { rule: 'double' }), node('out:result', { key: 'x' })],
      'in.request_list -> each\neach.item -> double.n\ndouble.twice -> out',
    );
    expect(answer(solve(flow, { list: [1, null, 3] }))).toMatch(/The node "double" \(item 1\) failed/);
    expect(solve(flow, { list: [1, '2'] })).toMatchObject({
      error: { path: ['double'], indexes: [1], details: { field: 'n', expected: 'number', came: 'string' } },
    });
  });

  it('FL-30 leave the input of the flow to its rule', () => {
    const flow = graph([node('out:result')], 'in.request_n -> out\nin.seen -> out');
    expect(answer(solve(flow, { n: 'text' }))).toEqual({ request_n: 'text', seen: true });
    expect(answer(solve(flow, []))).toMatch(
      /^evaluation_failed: The node "in" failed: The input of a rule is an object/,
    );
  });

  it('FL-31 accept the same dates as the engine', () => {
    const flow = graph(
      [node('each:foreach', { outputs: [{ key: 'day', type: 'date' }] }), node('out:result', { key: 'days' })],
      'in.request_list -> each\neach.day -> out',
    );
    const days = [{ day: '2026-01-31' }, { day: '2026-01-31T09:30:00+02:00' }, { day: 0 }, {}];
    expect(answer(solve(flow, { list: days }))).toEqual({
      days: [{ day: '2026-01-31' }, { day: days[1]?.day }, { day: 0 }, {}],
    });
    expect(answer(solve(flow, { list: [{ day: '31.1.2026' }] }))).toMatch(/must be of type date/);
  });

  it('FL-32 read keys with dots as nested objects', () => {
    const flow = graph(
      [node('tax:rule', { rule: 'nested' }), node('out:result')],
      'in.request_place.city -> tax.place.city\ntax.tax.rate -> out',
    );
    expect(answer(solve(flow, { place: { city: 'Bern' } }))).toEqual({ tax: { rate: 8 } });
    expect(answer(solve(flow, { place: { city: 'Rome' } }))).toEqual({});
  });

  it('FL-32 let nested keys replace scalars, and change no shared object', () => {
    const flow = graph(
      [node('out:result'), node('table:lookup', { table: [{ key: 1, value: { b: 0, c: 3 } }] })],
      `in.request_n -> table
       table.value -> out.a
       in.seen -> out.a.b
       in.request_n -> out.d
       in.seen -> out.d.e`,
    );
    const plan = compiled(flow);
    expect(answer(solve(plan, { n: 1 }))).toEqual({ a: { b: true, c: 3 }, d: { e: true } });
    expect(answer(solve(plan, { n: 1 }))).toEqual({ a: { b: true, c: 3 }, d: { e: true } });
  });

  it('FL-48, FL-32 treat keys such as __proto__ as ordinary keys', () => {
    const flow = graph([node('out:result', { key: '__proto__' })], 'in.seen -> out.constructor');
    const output = answer(solve(flow)) as object;
    expect(Object.keys(output)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['seen']).toBeUndefined();
  });
});

it('has a rule for every name that flows of the tests use', () => {
  expect(new Set(rules.map(({ slug }) => slug)).size).toBe(rules.length);
});
