import { answer, graph, node, problemsOf, solve } from './support/flows';

const out = node('out:result');
const gate = (ref: string, property: string, operator = 'is true', args: readonly unknown[] = []) =>
  node(`${ref}:ifelse`, { condition: { property, operator, args } });

describe('what runs', () => {
  it('FL-20, FL-26 runs nodes after their dependencies, in any document order', () => {
    const flow = graph(
      [out, node('second:rule', { rule: 'add' }), node('first:rule', { rule: 'double' })],
      `in.request_n -> first.n
       first.twice -> second.a
       in.request_n -> second.b
       second.sum -> out`,
    );
    expect(answer(solve(flow, { n: 5 }))).toEqual({ sum: 15 });
    // A missing input stays missing: the formula cannot add it up, and nothing is converted.
    expect(answer(solve(flow, {}))).toMatch(/^evaluation_failed: The node "first" failed: /);
  });

  it('FL-21 runs a node while one of its gates is open', () => {
    const flow = graph(
      [gate('a', 'request_flag'), gate('b', 'request_other'), out],
      `in.request_flag -> a
       in.request_other -> b
       in.request_n -> out.n
       a => out
       b => out`,
    );
    expect(answer(solve(flow, { n: 1, flag: true, other: false }))).toEqual({ n: 1 });
    expect(answer(solve(flow, { n: 1, flag: false, other: true }))).toEqual({ n: 1 });
    expect(answer(solve(flow, { n: 1, flag: false, other: false }))).toEqual({});
  });

  it('FL-21 shuts the gates of a condition that was skipped itself', () => {
    const flow = graph(
      [gate('a', 'request_flag'), gate('b', 'request_other', 'is false'), out],
      `in.request_flag -> a
       in.request_other -> b
       a => b
       b => out
       in.request_n -> out.n`,
    );
    expect(answer(solve(flow, { n: 1, flag: false, other: false }))).toEqual({});
    expect(answer(solve(flow, { n: 1, flag: true, other: false }))).toEqual({ n: 1 });
  });

  const joined = graph(
    [
      gate('is', 'request_flag'),
      gate('is_not', 'request_flag', 'is false'),
      node('left:rule', { rule: 'double' }),
      node('right:rule', { rule: 'add' }),
      out,
    ],
    `in.request_flag -> is
     in.request_flag -> is_not
     is => left
     is_not => right
     in.request_n -> left.n
     in.request_n -> right.a
     in.request_n -> right.b
     left.twice -> out.left
     right.sum -> out.right
     left.twice -> out.either
     right.sum -> out.either`,
  );

  it('FL-22 runs a join with the inputs whose nodes ran', () => {
    expect(answer(solve(joined, { n: 4, flag: true }))).toMatchObject({ left: 8 });
    expect(answer(solve(joined, { n: 4, flag: true }))).not.toHaveProperty('right');
    // Neither condition holds for a missing flag, so nothing reaches the join.
    expect(answer(solve(joined, { n: 4 }))).toEqual({});
  });

  it('FL-23 takes an input from the first connection whose node ran and gave a value', () => {
    expect(answer(solve(joined, { n: 4, flag: true }))).toEqual({ left: 8, either: 8 });
    expect(answer(solve(joined, { n: 4, flag: false }))).toEqual({ right: 8, either: 8 });
    const flow = graph(
      [node('grade:rule', { rule: 'grade' }), out],
      `in.request_n -> grade.n
       grade.grade -> out.value
       in.request_name -> out.value`,
    );
    expect(answer(solve(flow, { n: 11, name: 'none' }))).toEqual({ value: 'high' });
    expect(answer(solve(flow, { name: 'none' }))).toEqual({ value: 'none' });
  });

  it('FL-24 skips nodes that depend only on a skipped node, and runs those with another input', () => {
    const flow = graph(
      [
        gate('is', 'request_flag'),
        node('first:rule', { rule: 'double' }),
        node('second:rule', { rule: 'double' }),
        node('other:rule', { rule: 'double' }),
        out,
      ],
      `in.request_flag -> is
       is => first
       in.request_n -> first.n
       first.twice -> second.n
       in.request_n -> other.n
       second.twice -> out.second
       other.twice -> out.other`,
    );
    const run = solve(flow, { n: 3, flag: false }, { trace: { clock: () => 0 } });
    expect(answer(run)).toEqual({ other: 6 });
    expect(run.trace?.entries.map(({ ref, status, reason }) => [ref, status, reason])).toEqual([
      ['in', 'ran', undefined],
      ['is', 'ran', 'condition'],
      ['first', 'skipped', 'gate'],
      ['second', 'skipped', 'inputs'],
      ['other', 'ran', undefined],
      ['out', 'ran', undefined],
    ]);
    expect(answer(solve(flow, { n: 3, flag: true }))).toEqual({ second: 12, other: 6 });
  });
});

describe('conditions', () => {
  const asking = (condition: object, wire = 'in.request_n -> gate') =>
    graph([node('gate:continue_if', { condition }), out], `${wire}\ngate => out\nin.seen -> out`);
  const holds = (condition: object, input: object, wire?: string): boolean =>
    Object.hasOwn(answer(solve(asking(condition, wire), input)) as object, 'seen');

  it('FL-25 use the operators of the type of their property', () => {
    expect(holds({ operator: 'greater than', args: [3] }, { n: 4 })).toBe(true);
    expect(holds({ operator: 'greater than', args: [3] }, { n: 3 })).toBe(false);
    expect(holds({ operator: 'greater than', args: [3] }, {})).toBe(false);
    expect(holds({ operator: 'is null' }, {})).toBe(true);
    expect(holds({ operator: 'contains', args: ['x'] }, { list: ['x'] }, 'in.request_list -> gate')).toBe(true);
    expect(holds({ operator: 'contains', args: ['x'] }, { name: 'axe' }, 'in.request_name -> gate')).toBe(true);
  });

  it('FL-25 use the type of the value if the output declares none', () => {
    const flow = graph(
      [
        node('each:foreach'),
        node('gate:ifelse', { condition: { operator: 'equals', args: ['a'] } }),
        node('out:result', { key: 'items' }),
      ],
      `in.request_list -> each
       each.item -> gate
       gate => out
       each.item -> out`,
    );
    expect(answer(solve(flow, { list: ['a', 1, null, 'b', ['a'], { a: 'a' }, 'a'] }))).toEqual({
      items: [{ item: 'a' }, { item: 'a' }],
    });
  });

  it.each([
    [0, false],
    [1, true],
    ['', false],
    ['0', true],
    [false, false],
    [true, true],
    [[], false],
    [[0], true],
    [{}, true],
  ])('FL-25 takes %j for truthy: %s', (value, expected) => {
    const flow = (operator: string) =>
      graph(
        [node('each:foreach'), node('gate:ifelse', { condition: { operator } }), node('out:result', { key: 'items' })],
        `in.request_list -> each
         each.item -> gate
         gate => out
         each.index -> out`,
      );
    const given = (operator: string) =>
      (answer(solve(flow(operator), { list: [value] })) as { items: unknown[] }).items;
    expect(given('truthy')).toHaveLength(Number(expected));
    expect(given('falsy')).toHaveLength(Number(!expected));
  });

  it('FL-25 test whether the property is true if no operator is named', () => {
    expect(holds({}, { flag: true }, 'in.request_flag -> gate')).toBe(true);
    expect(holds({}, { flag: false }, 'in.request_flag -> gate')).toBe(false);
    expect(holds({}, { n: 1 })).toBe(false);
  });

  it('FL-25 pass their inputs on while they hold', () => {
    const flow = graph(
      [node('gate:ifelse', { condition: { property: 'flag' } }), node('double:rule', { rule: 'double' }), out],
      `in.request_flag -> gate.flag
       in.request_n -> gate.n
       gate.n -> double.n
       double.twice -> out`,
    );
    expect(answer(solve(flow, { flag: true, n: 2 }))).toEqual({ twice: 4 });
    expect(answer(solve(flow, { flag: false, n: 2 }))).toEqual({});
  });

  it('FL-25 are refused if operator, arguments or property do not fit', () => {
    const problem = (condition: object, wire?: string) => {
      const [first, ...others] = problemsOf(asking(condition, wire));
      expect(others).toEqual([]);
      return first;
    };
    expect(problem({ operator: 'starts with', args: ['a'] })).toMatchObject({
      code: 'invalid_condition',
      ref: 'gate',
      field: 'operator',
      path: '/nodes/1/condition',
    });
    expect(problem({ operator: 'no such thing' })?.message).toMatch(
      /uses the operator "no such thing".*use one of any, /,
    );
    expect(problem({ operator: 'greater than', args: ['three'] })?.message).toMatch(/cannot be used/);
    expect(problem({ operator: 'greater than' })?.message).toMatch(/cannot be used/);
    expect(problem({ property: 'x', operator: 'truthy' })).toMatchObject({
      code: 'invalid_condition',
      field: 'property',
    });
    expect(problem({ operator: 'truthy' }, 'in.request_n -> gate\nin.request_name -> gate')?.message).toMatch(
      /names no property; its inputs are: request_n, request_name/,
    );
  });
});
