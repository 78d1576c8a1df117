import { compileValidator, flowNodeAliases, flowNodeTypes, ImportFlowRequest } from '@decision/contracts';
import { checkFlow, compileFlow, type FlowLimits } from '../src';
import { assetsOf, compiled, formulaRule, graph, node, problemsOf, rules, wires } from './support/flows';

const out = node('out:result');
const codes = (flow: Parameters<typeof problemsOf>[0], flows?: Parameters<typeof problemsOf>[1]) =>
  problemsOf(flow, flows).map(({ code, ref, field }) => [code, ref, field]);

/** The minimal fields of each type besides ref and type. */
const FIELDS: Readonly<Record<string, object>> = {
  origin: { rule: 'input' },
  rule: { rule: 'double' },
  flow: { flow: 'inner', version: 1 },
  ifelse: { condition: { operator: 'truthy' } },
  lookup: { table: [] },
  code: { code: 'outputs.a = 1', outputs: [{ key: 'a' }] },
  api: { url: 'https://example.com' },
  db: { connectionString: 'postgres://example.com/db', query: 'select 1' },
  soap: { wsdlUrl: 'https://example.com?wsdl' },
  ai: { labels: [{ name: 'mood' }] },
  vault: { secrets: [{ name: 'KEY' }] },
  entity: { entitySlug: 'customers' },
  notification: { channels: { slack: { url: 'https://example.com' } } },
};

describe('flow documents', () => {
  const inner = compiled(graph([out], 'in.seen -> out'), 'inner');

  it.each(flowNodeTypes.flatMap((type) => flowNodeAliases[type].map((alias) => [alias, type] as const)))(
    'FL-2 read the type %s as %s, and keep unknown fields',
    (alias, type) => {
      const one = { ref: 'one', type: alias, ...FIELDS[type], custom: { kept: true } };
      const origin = type === 'origin' ? [one] : [node('in:origin', { rule: 'input' }), one];
      const checked = checkFlow({ nodes: [...origin, out], connections: [] }, assetsOf([inner]));
      expect(checked.problems.filter(({ code }) => code === 'unknown_type' || code === 'invalid_field')).toEqual([]);
      expect(checked.graph.nodes.find(({ ref }) => ref === 'one')).toEqual({ ...one, type });
    },
  );

  it('FL-2 read slug/version as two fields', () => {
    const flow = graph(
      [node('a:rule', { rule: 'double/1' }), node('b:flow', { flow: 'inner/1' }), out],
      'in.seen -> out',
    );
    const checked = checkFlow(flow, assetsOf([inner]));
    expect(checked.problems).toEqual([]);
    expect(checked.graph.nodes.slice(1, 3)).toEqual([
      { ref: 'a', type: 'rule', rule: 'double', version: '1' },
      { ref: 'b', type: 'flow', flow: 'inner', version: '1' },
    ]);
    // Checking the canonical document again changes nothing.
    expect(checkFlow(checked.graph, assetsOf([inner]))).toEqual(checked);
  });

  it('FL-1 have nodes and connections of a known shape', () => {
    const check = compileValidator(ImportFlowRequest);
    const isKnown = (flow: object): boolean => check({ flow }).ok;
    expect(isKnown({ nodes: [{ ref: 'a' }] })).toBe(false);
    expect(isKnown({ nodes: [{ ref: '', type: 'rule' }] })).toBe(false);
    expect(isKnown({ nodes: [], connections: [{ from: 'a' }] })).toBe(false);
    expect(isKnown({ nodes: [{ ref: 'a', type: 'b', more: 1 }], connections: [] })).toBe(true);
  });

  it('FL-1 have a unique ref for each node', () => {
    expect(
      codes(graph([node('a:rule', { rule: 'double' }), node('a:rule', { rule: 'add' }), out], 'in.seen -> out')),
    ).toEqual([['duplicate_ref', 'a', 'ref']]);
  });

  it('FL-3 report every problem at once, with node and field', () => {
    const flow = graph(
      [
        node('what:nonsense'),
        node('late:rule'),
        node('sum:rule', { rule: 'nothing' }),
        node('each:foreach', { outputs: [{ type: 'number' }] }),
        node('pick:aggregate', { aggregations: { a: { operator: 'median' } } }),
        out,
      ],
      `in.seen -> out
       in.other -> out
       gone.seen -> out`,
    );
    expect(problemsOf(flow).map(({ code, ref, field, path }) => [code, ref, field, path])).toEqual([
      ['unknown_type', 'what', 'type', '/nodes/1/type'],
      ['invalid_field', 'late', 'rule', '/nodes/2'],
      ['unknown_rule', 'sum', 'rule', '/nodes/3/rule'],
      ['invalid_field', 'each', 'outputs', '/nodes/4/outputs/0'],
      ['invalid_field', 'pick', 'aggregations', '/nodes/5/aggregations/a/operator'],
      ['unknown_node', undefined, 'from', '/connections/2/from'],
      ['unknown_output', 'in', 'other', '/connections/1/output'],
    ]);
    for (const { message } of problemsOf(flow)) expect(message).toMatch(/^[A-Z].*\.$/);
    expect(() => compileFlow({ id: 'f', slug: 'f', version: 1 }, flow, assetsOf())).toThrow(
      expect.objectContaining({ code: 'flow_invalid' }) as Error,
    );
  });

  it('FL-3 report at most 100 problems', () => {
    const nodes = Array.from({ length: 300 }, (_, index) => node(`n${index}:nonsense`));
    expect(problemsOf(graph([...nodes, out], 'in.seen -> out'))).toHaveLength(100);
  });

  it('FL-4 have one origin and a result', () => {
    expect(codes({ nodes: [out] })).toEqual([['missing_origin', undefined, undefined]]);
    expect(codes(graph([], ''))).toEqual([['missing_result', undefined, undefined]]);
    expect(codes(graph([node('second:flow_input', { rule: 'input' }), out], 'in.seen -> out'))).toEqual([
      ['several_origins', 'second', 'type'],
    ]);
    // An unreadable node might have been the result.
    expect(codes(graph([node('what:nonsense')], ''))).toEqual([['unknown_type', 'what', 'type']]);
  });

  it('FL-4 have at most 1,000 nodes and 10,000 connections', () => {
    const nodes = Array.from({ length: 998 }, (_, index) => node(`n${index}:rule`, { rule: 'double' }));
    expect(codes(graph([...nodes, out], 'in.seen -> out'))).toEqual([]);
    expect(codes(graph([...nodes, node('more:rule', { rule: 'double' }), out], 'in.seen -> out'))).toEqual([
      ['too_large', undefined, undefined],
    ]);
    const one = wires('in.seen -> out')[0] ?? { from: '', to: '' };
    const many = { ...graph([out], ''), connections: new Array<typeof one>(10_001).fill(one) };
    expect(codes(many)).toEqual([['too_large', undefined, undefined]]);
  });

  it('FL-4, FL-82 are checked against the limits of the operator, and published flows still compile under others', () => {
    const flow = graph([node('sub:flow', { flow: 'inner', version: 1 }), out], 'in.seen -> out');
    const inner = compiled(graph([out], 'in.seen -> out'), 'inner');
    const codesWithin = (limits: FlowLimits) =>
      checkFlow(flow, assetsOf([inner]), {}, limits).problems.map(({ code }) => code);
    expect(codesWithin({ nodes: 3, depth: 2 })).toEqual([]);
    expect(codesWithin({ nodes: 2 })).toEqual(['too_large']);
    expect(codesWithin({ depth: 1 })).toEqual(['too_deep']);
    const large = Array.from({ length: 1_100 }, (_, index) => node(`n${index}:rule`, { rule: 'double' }));
    expect(compiled(graph([...large, out], 'in.seen -> out')).root.steps).toHaveLength(1_102);
  });

  it('FL-5 connect outputs and inputs that exist', () => {
    const rule = node('sum:rule', { rule: 'add' });
    expect(codes(graph([rule, out], 'in.seen -> sum.c\nsum.difference -> out'))).toEqual([
      ['unknown_input', 'sum', 'c'],
      ['unknown_output', 'sum', 'difference'],
    ]);
    // Without a name the input is called like the output, and this rule has no such input.
    expect(codes(graph([rule, out], 'in.request_n -> sum\nsum.sum -> out'))).toEqual([
      ['unknown_input', 'sum', 'request_n'],
    ]);
    expect(codes({ ...graph([out], ''), connections: [{ from: 'in', to: 'out' }] })).toEqual([
      ['unknown_output', 'in', 'output'],
    ]);
    expect(codes(graph([out], 'in.request_nothing -> out'))).toEqual([['unknown_output', 'in', 'request_nothing']]);
    expect(codes(graph([out, node('b:result', { key: 'b' })], 'out.seen -> b'))).toEqual([
      ['unknown_output', 'out', 'seen'],
    ]);
    expect(codes(graph([out], 'in.seen -> in\nin.seen -> out'))).toEqual([['misplaced_connection', 'in', 'input']]);
  });

  it('FL-6 show the cycle that connections make', () => {
    const flow = graph(
      [node('a:rule', { rule: 'double' }), node('b:rule', { rule: 'add' }), node('c:rule', { rule: 'double' }), out],
      `a.twice -> b.a
       b.sum -> c.n
       c.twice -> a.n
       in.request_n -> b.b
       c.twice -> out`,
    );
    const [problem] = problemsOf(flow);
    expect(problem?.code).toBe('cycle');
    expect(problem?.message).toMatch(/"a" -> "b" -> "c" -> "a"|"b" -> "c" -> "a" -> "b"|"c" -> "a" -> "b" -> "c"/);
    expect(codes(graph([node('a:rule', { rule: 'double' }), out], 'a.twice -> a.n\na.twice -> out'))[0]?.[0]).toBe(
      'cycle',
    );
  });

  it('FL-6 show how a flow would run itself', () => {
    const sub = (flow: string) => [node('sub:flow', { flow, version: 1 }), out];
    const self = compiled(graph([out], 'in.seen -> out'), 'tested');
    const middle = compiled(graph(sub('tested'), 'in.seen -> out'), 'middle', [self]);
    expect(problemsOf(graph(sub('middle'), 'in.seen -> out'), [self, middle])).toEqual([
      {
        code: 'cycle',
        message: 'The node "sub" makes the flow run itself: "tested" -> "middle" -> "tested"; run another flow.',
        path: '/nodes/1/flow',
        ref: 'sub',
        field: 'flow',
      },
    ]);
    expect(codes(graph(sub('tested'), 'in.seen -> out'), [self])).toEqual([['cycle', 'sub', 'flow']]);
  });

  it('FL-7 name published rules, and flows by number', () => {
    const flow = (fields: object) =>
      graph([node('sub:flow', fields as Record<string, unknown>), out], 'in.seen -> out');
    expect(codes(flow({ flow: 'inner' }), [inner])).toEqual([['invalid_field', 'sub', 'version']]);
    expect(codes(flow({ flow: 'inner', version: 'latest' }), [inner])).toEqual([['invalid_field', 'sub', 'version']]);
    expect(codes(flow({ flow: 'inner', version: 2 }), [inner])).toEqual([['unknown_flow', 'sub', 'flow']]);
    expect(codes(flow({ flow: 'inner', version: 1 }), [inner])).toEqual([]);
    expect(codes(graph([node('r:rule', { rule: 'double', version: 2 }), out], 'in.seen -> out'))).toEqual([
      ['unknown_rule', 'r', 'rule'],
    ]);
  });

  it('FL-8 have gates only from conditions, and not to origins or vaults', () => {
    const gate = node('gate:ifelse', { condition: {} });
    const vault = node('vault', { secrets: [{ name: 'KEY' }] });
    expect(codes(graph([gate, vault, out], 'in.seen -> gate\ngate => vault\ngate => in\nin => out'))).toEqual([
      ['misplaced_gate', 'vault', 'control'],
      ['misplaced_gate', 'in', 'control'],
      ['misplaced_gate', 'in', 'control'],
    ]);
  });

  it('FL-9 allow secrets only into certain nodes', () => {
    const nodes = [
      node('vault', { secrets: [{ name: 'KEY' }] }),
      node('code', { code: 'outputs.a = 1', outputs: [{ key: 'a' }] }),
      out,
    ];
    expect(codes(graph(nodes, 'vault.KEY -> code\ncode.a -> out'))).toEqual([]);
    expect(codes(graph(nodes, 'vault.KEY -> out\ncode.a -> out'))).toEqual([['misplaced_secret', 'out', 'input']]);
    expect(codes(graph(nodes, 'vault.OTHER -> code\ncode.a -> out'))).toEqual([['unknown_output', 'vault', 'OTHER']]);
  });

  it('FL-82 nest at most 16 deep', () => {
    let flow = compiled(graph([out], 'in.seen -> out'), 'f1');
    for (let depth = 2; depth <= 16; depth += 1)
      flow = compiled(graph([node('sub:flow', { flow: flow.slug, version: 1 }), out], 'in.seen -> out'), `f${depth}`, [
        flow,
      ]);
    expect(flow.depth).toBe(16);
    expect(codes(graph([node('sub:flow', { flow: 'f16', version: 1 }), out], 'in.seen -> out'), [flow])).toEqual([
      ['too_deep', 'sub', 'flow'],
    ]);
  });

  it('FL-5 know what a subflow answers', () => {
    const answering = compiled(
      graph(
        [
          node('a:result', { key: 'data', keyMappings: { seen: 'was' } }),
          node('each:foreach'),
          node('b:result', { key: 'all' }),
        ],
        'in.seen -> a\nin.request_list -> each\neach.item -> b',
      ),
      'answering',
    );
    expect(answering.outputs).toEqual([
      { key: 'data', type: 'object' },
      { key: 'data.was', type: 'boolean' },
      { key: 'all', type: 'list' },
    ]);
    const flow = (output: string) =>
      graph([node('sub:flow', { flow: 'answering', version: 1 }), out], `sub.${output} -> out`);
    expect(codes(flow('data.was'), [answering])).toEqual([]);
    expect(codes(flow('data.is'), [answering])).toEqual([['unknown_output', 'sub', 'data.is']]);
  });

  it('FL-5 let an output of the rule hide the field of the input that would have its name', () => {
    const hiding = formulaRule('hiding', { n: 'number' }, { request_n: 'n + 1' });
    const flow = { nodes: [node('in:origin', { rule: 'hiding' }), out], connections: wires('in.request_n -> out') };
    expect(compiled(flow, 'tested', [], [...rules, hiding]).outputs).toEqual([{ key: 'request_n', type: 'any' }]);
  });
});
