import { type FlowCondition, type FlowGraph, type FlowOutput, ServiceError } from '@decision/contracts';
import { fieldPath, type FieldPath } from '@decision/engine';
import { areEqual } from '@decision/values';
import { type ArrangedNode, orderOf } from './arrange';
import { type AssetField, type CompiledRuleAsset, type FlowAsset, type FlowAssets } from './assets';
import { compileCondition } from './conditions';
import { FlowProblems, type FlowProblem, shown } from './flow-problem';
import { type AggregationOperator } from './node-kinds';
import {
  type Collector,
  type CombinePlan,
  type ConditionOnInput,
  type FlowPlan,
  type GateSource,
  type InputPlan,
  type OutputPlan,
  type ResultPlan,
  type Scope,
  type Source,
  type Step,
} from './plan';
import { type FlowIdentity, type FlowLimits, type ReadFlow, readFlow, WITHOUT_LIMITS } from './read-flow';
import { type ReadNode } from './read-nodes';
import { type DataEdge, type EdgeType, edgeTypeOf, fieldsOf, type GateEdge } from './wiring';

/** Result of checking a flow. */
interface CheckedFlow extends Pick<ReadFlow, 'problems' | 'graph'> {
  /** Its inputs and outputs as another flow sees them; undefined if it has problems. */
  readonly asset: Omit<FlowAsset, 'id' | 'slug' | 'version'> | undefined;
}

/** Every problem of a flow, at most 100. An empty answer means that it compiles with the same assets. */
export const checkFlow = (
  graph: FlowGraph,
  assets: FlowAssets,
  identity?: FlowIdentity,
  limits?: FlowLimits,
): CheckedFlow => {
  const flow = readFlow(graph, assets, identity, limits);
  if (flow.problems.length > 0) return { problems: flow.problems, graph: flow.graph, asset: undefined };
  const problems = new FlowProblems();
  const asset = new Compiler(flow, problems).compile();
  return { graph: flow.graph, problems: problems.list, asset: problems.list.length > 0 ? undefined : asset };
};

/** The identity of a flow, besides its graph. */
interface FlowHead {
  readonly id: string;
  readonly slug: string;
  readonly version: number;
}

interface CompileOptions {
  /** Whether rules may answer later, like nodes that reach out: the plan is then evaluated like that of a flow that reaches out. */
  readonly rulesAnswerLater?: boolean;
}

/** Compiles a flow of any size. Throws `flow_invalid` with every other problem that {@link checkFlow} finds. */
export const compileFlow = (
  head: FlowHead,
  graph: FlowGraph,
  assets: FlowAssets<CompiledRuleAsset, FlowPlan>,
  { rulesAnswerLater = false }: CompileOptions = {},
): FlowPlan => {
  const flow = readFlow(graph, assets, head, WITHOUT_LIMITS);
  const problems = new FlowProblems();
  const plan = flow.problems.length > 0 ? undefined : new Compiler(flow, problems, rulesAnswerLater).compile();
  const [first] = [...flow.problems, ...problems.list];
  if (plan === undefined || first !== undefined) throw invalid([...flow.problems, ...problems.list]);
  return { ...head, ...plan };
};

const invalid = (problems: readonly FlowProblem[]): ServiceError =>
  new ServiceError('flow_invalid', `The flow cannot be executed: ${problems[0]?.message ?? ''}`, { problems });

/** Turns a flow without problems into a plan. */
class Compiler {
  /** Index of each node among the steps of its scope. */
  private readonly steps = new Map<ReadNode, number>();
  private readonly collectors = new Map<ReadNode, ArrangedNode[]>();
  private readonly results: readonly ArrangedNode[];

  constructor(
    private readonly flow: ReadFlow,
    private readonly problems: FlowProblems,
    private readonly rulesAnswerLater = false,
  ) {
    const nodes = [...flow.nodes.values()];
    this.results = nodes.filter(({ node }) => node.type === 'result').sort((a, b) => a.node.position - b.node.position);
    for (const one of nodes) {
      if (one.closes === undefined) continue;
      this.collectors.set(one.closes, [...(this.collectors.get(one.closes) ?? []), one]);
    }
  }

  compile(): Omit<FlowPlan, 'id' | 'slug' | 'version'> {
    const nodes = [...this.flow.nodes.values()];
    const origin = nodes.find(({ node }) => node.type === 'origin');
    const subflows = nodes.flatMap(({ node }) => (node.flow === undefined ? [] : [node.flow as FlowPlan])); // of compileFlow's assets
    const root = this.compileScope([]);
    return {
      inputs: origin?.node.rule?.inputs ?? [],
      outputs: this.results.flatMap(answerFields),
      depth: 1 + Math.max(0, ...subflows.map(({ depth }) => depth)),
      subflows,
      root,
      reachesOut: root.reachesOut,
      results: this.results.map(resultPlan),
    };
  }

  private compileScope(loops: readonly ReadNode[]): Scope {
    const members = [...this.flow.nodes.values()].filter(
      (one) => one.loops.length === loops.length && one.loops.at(-1) === loops.at(-1),
    );
    const needs = new Map<ReadNode, Set<ReadNode>>(members.map(({ node }) => [node, new Set()]));
    for (const edge of [...this.flow.wiring.data, ...this.flow.wiring.gates]) this.addNeed(edge, loops.length, needs);
    const order = orderOf(needs, this.problems, 'need the aggregated results of a loop');
    order.forEach((node, index) => this.steps.set(node, index));
    const steps = order.flatMap((node) => {
      const one = this.flow.nodes.get(node);
      if (one === undefined) return [];
      const before = [...(needs.get(node) ?? [])].map((other) => this.steps.get(other) ?? 0);
      return [this.compileStep(one, loops, before)];
    });
    const answersLater = (step: Step): boolean =>
      stepReachesOut(step) || (this.rulesAnswerLater && (step.kind === 'origin' || step.kind === 'rule'));
    return { steps, reachesOut: steps.some(answersLater) };
  }

  /** Both ends of a connection as steps of their common scope: a node inside a loop counts as the loop. */
  private addNeed({ from, to }: GateEdge, depth: number, needs: ReadonlyMap<ReadNode, Set<ReadNode>>): void {
    const source = this.liftTo(from, depth);
    const target = this.liftTo(to, depth);
    if (source !== undefined && target !== undefined && source !== target && needs.has(source))
      needs.get(target)?.add(source);
  }

  private liftTo(node: ReadNode, depth: number): ReadNode | undefined {
    const loops = this.flow.nodes.get(node)?.loops ?? [];
    return loops.length === depth ? node : loops[depth];
  }

  private compileStep(one: ArrangedNode, loops: readonly ReadNode[], needs: readonly number[]): Step {
    const { node } = one;
    const depth = loops.length;
    // The values that an aggregate takes from each item, and the gates inside the loop, belong to the loop's collector.
    const gates = one.gates.filter(({ from }) => (this.flow.nodes.get(from)?.loops.length ?? 0) <= depth);
    const base = {
      ref: node.ref,
      inputs: node.type === 'aggregate' ? [] : this.inputsOf(one, depth),
      gates: this.gatesOf(gates, depth),
      needs,
    };
    switch (node.type) {
      case 'origin':
        return { ...base, kind: 'origin', rule: ruleOf(node) };
      case 'rule':
        return { ...base, kind: 'rule', rule: ruleOf(node) };
      case 'ifelse':
        return {
          ...base,
          kind: 'condition',
          condition: this.conditionOf(one, node.fields['condition'] as FlowCondition, ''),
        };
      case 'lookup':
        return { ...base, kind: 'lookup', find: lookUp(node) };
      case 'foreach': {
        const body = this.compileScope([...loops, node]);
        const collectors = (this.collectors.get(node) ?? []).map((closing) => this.collectorOf(closing, depth + 1));
        return { ...base, kind: 'loop', body, collectors };
      }
      case 'aggregate': {
        const loop = one.closes === undefined ? 0 : (this.steps.get(one.closes) ?? 0);
        const collector = one.closes === undefined ? 0 : (this.collectors.get(one.closes) ?? []).indexOf(one);
        return { ...base, kind: 'aggregate', loop, collector, combine: combineOf(one) };
      }
      case 'result':
        return { ...base, kind: 'result', result: this.results.indexOf(one) };
      case 'flow':
        return { ...base, kind: 'subflow', ...subflowOf(node), outputs: outputPlans(one) };
      default:
        return { ...base, kind: 'outside', node: outsideNode(node), outputs: outputPlans(one) };
    }
  }

  private inputsOf({ node, inputs }: ArrangedNode, depth: number): readonly InputPlan[] {
    const types = new Map<string, EdgeType>(fieldsOf(node).map((field) => [field.key, edgeTypeOf(field)]));
    if (node.type === 'foreach') types.set('list', 'list');
    return [...inputs].map(([key, edges]) => ({
      key,
      path: fieldPath(key),
      type: types.get(key) ?? 'any',
      sources: edges.map((edge) => this.sourceOf(edge, depth)),
    }));
  }

  /** The source of a value, for a reader nested in `depth` loops. */
  private sourceOf({ from, output }: DataEdge, depth: number): Source {
    const loops = this.flow.nodes.get(from)?.loops.length ?? 0;
    const step = this.steps.get(from) ?? 0;
    const path = fieldPath(output);
    if (from.type === 'foreach') {
      const declared = (from.fields['outputs'] as readonly FlowOutput[] | undefined)?.find(({ key }) => key === output);
      const builtIn = output === 'index' ? 'index' : 'item';
      return {
        up: depth - loops - 1,
        step,
        path,
        from: declared === undefined ? builtIn : 'member',
        type: declared?.type ?? 'any',
      };
    }
    const isRequest = from.type === 'origin' && isRequestField(from, output);
    const source = isRequest ? fieldPath(output.slice('request_'.length)) : path;
    return { up: depth - loops, step, path: source, from: isRequest ? 'request' : 'value', type: 'any' };
  }

  private gatesOf(gates: readonly GateEdge[], depth: number): readonly GateSource[] {
    return gates.map(({ from }) => ({
      up: depth - (this.flow.nodes.get(from)?.loops.length ?? 0),
      step: this.steps.get(from) ?? 0,
    }));
  }

  private collectorOf(one: ArrangedNode, depth: number): Collector {
    const filters = (one.node.fields['filters'] as readonly FlowCondition[] | undefined) ?? [];
    const gates = one.gates.filter(({ from }) => (this.flow.nodes.get(from)?.loops.length ?? 0) >= depth);
    return {
      ref: one.node.ref,
      inputs: this.inputsOf(one, depth),
      gates: this.gatesOf(gates, depth),
      filters: filters.map((filter, index) => this.conditionOf(one, filter, `/filters/${index}`)),
    };
  }

  private conditionOf({ node, inputTypes }: ArrangedNode, condition: FlowCondition, within: string): ConditionOnInput {
    const keys = [...inputTypes.keys()];
    const property = condition.property ?? (keys.length === 1 ? keys[0] : undefined);
    const place = { path: `/nodes/${node.position}${within === '' ? '/condition' : within}`, ref: node.ref };
    const key = property ?? '';
    const type = inputTypes.get(key);
    if (type === undefined) {
      const names = keys.map(shown).join(', ') || 'none';
      const what =
        property === undefined ? 'names no property' : `asks about "${shown(property)}", which does not enter it`;
      this.problems.add(
        'invalid_condition',
        `The condition of "${shown(node.ref)}" ${what}; its inputs are: ${names}.`,
        {
          ...place,
          field: 'property',
        },
      );
      return { key, holds: () => false };
    }
    const compiled = compileCondition(condition, type);
    if (compiled.ok) return { key, holds: compiled.holds };
    const message = `The condition of "${shown(node.ref)}" on "${shown(key)}" ${compiled.fault}.`;
    this.problems.add('invalid_condition', message, { ...place, field: 'operator' });
    return { key, holds: () => false };
  }
}

const stepReachesOut = (step: Step): boolean =>
  step.kind === 'outside' ||
  (step.kind === 'loop' && step.body.reachesOut) ||
  (step.kind === 'subflow' && (step.flow.reachesOut || step.kept !== undefined));

/** Only assets that `compileFlow` found are evaluated. */
const ruleOf = ({ rule }: ReadNode) => rule as CompiledRuleAsset;

/** A response field of this name hides the request field. */
const isRequestField = ({ rule }: ReadNode, output: string): boolean =>
  output.startsWith('request_') &&
  rule !== undefined &&
  !rule.outputs.some(({ key }) => key === output) &&
  rule.inputs.some(({ key }) => `request_${key}` === output);

const outputPlans = ({ node, outputTypes }: ArrangedNode): readonly OutputPlan[] => {
  const declared = new Set(((node.fields['outputs'] as readonly FlowOutput[] | undefined) ?? []).map(({ key }) => key));
  return [...outputTypes]
    .filter(([key, type]) => type !== 'any' && (declared.has(key) || node.type !== 'flow'))
    .map(([key, type]) => ({ key, path: fieldPath(key), type }));
};

const combineOf = ({ node, inputs }: ArrangedNode): CombinePlan => {
  const aggregations = (node.fields['aggregations'] ?? {}) as Readonly<
    Record<string, { operator?: AggregationOperator }>
  >;
  return {
    mode: node.fields['mode'] === 'items' ? 'items' : 'fields',
    operators: [...inputs.keys()].map((key) =>
      Object.hasOwn(aggregations, key) ? (aggregations[key]?.operator ?? 'list') : 'list',
    ),
  };
};

const outsideNode = ({ ref, type, fields }: ReadNode) => ({
  ref,
  type,
  fields,
  onError: (fields['onError'] as 'fail' | 'continue' | 'default' | undefined) ?? 'fail',
  defaultOutputs: (fields['defaultOutputs'] as Readonly<Record<string, unknown>> | undefined) ?? {},
});

const subflowOf = (node: ReadNode) => {
  const flow = node.flow as FlowPlan; // of compileFlow's assets
  if (node.fields['useCache'] !== true) return { flow, kept: undefined };
  const fields = { ...node.fields, runs: [...new Set(versionsIn(flow))].sort() };
  return { flow, kept: outsideNode({ ...node, fields }) };
};

/** Identifies the versions of everything that a flow runs, since other versions may answer differently. */
const versionsIn = (flow: FlowPlan): readonly string[] => {
  const inScope = ({ steps }: Scope): readonly string[] =>
    steps.flatMap((step) => {
      if (step.kind === 'loop') return inScope(step.body);
      if (step.kind === 'subflow') return versionsIn(step.flow);
      return step.kind === 'rule' || step.kind === 'origin' ? versionOf(step.rule) : [];
    });
  return [`${flow.id} ${flow.version}`, ...inScope(flow.root)];
};

const versionOf = ({ versionId, id, version }: CompiledRuleAsset): string => versionId ?? `${id} ${version}`;

const mappedKey = ({ node }: ArrangedNode, key: string): string => {
  const mappings = (node.fields['keyMappings'] as Readonly<Record<string, string>> | undefined) ?? {};
  return Object.hasOwn(mappings, key) ? (mappings[key] ?? key) : key;
};

const resultPlan = (one: ArrangedNode): ResultPlan => {
  const { node, inputs, loops } = one;
  const key = (node.fields['key'] as string | undefined) ?? '';
  const exits = node.fields['immediateExit'] === true;
  return {
    ref: node.ref,
    key: key === '' ? undefined : fieldPath(key),
    members: [...inputs.keys()].map((input): FieldPath => fieldPath(mappedKey(one, input))),
    isInLoop: loops.length > 0,
    exits,
    exitData: exits ? exitData(node.fields['customExitData'] as string | undefined, key) : undefined,
  };
};

/** FL-62. */
const exitData = (text: string | undefined, key: string): Readonly<Record<string, unknown>> | undefined => {
  if (text === undefined || text === '') return undefined;
  try {
    const data: unknown = JSON.parse(text);
    if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data as Record<string, unknown>;
  } catch {
    // A text.
  }
  return { [key === '' ? 'data' : key]: text };
};

/** The outputs that a result adds to the answer of the flow, as another flow sees it. */
const answerFields = (one: ArrangedNode): readonly AssetField[] => {
  const key = (one.node.fields['key'] as string | undefined) ?? '';
  if (one.loops.length > 0) return key === '' ? [] : [{ key, type: 'list' }];
  const members = [...one.inputTypes].map(([input, type]): AssetField => ({
    key: [key, mappedKey(one, input)].filter((part) => part !== '').join('.'),
    type,
  }));
  return key === '' ? members : [{ key, type: 'object' }, ...members];
};

/** FL-70. Keys that are equal as JSON scalars are found at once; others one by one. */
const lookUp = ({ fields }: ReadNode): ((value: unknown) => unknown) => {
  const rows = fields['table'] as readonly { readonly key: unknown; readonly value: unknown }[];
  const scalars = new Map<unknown, unknown>();
  const others: (readonly [unknown, unknown])[] = [];
  for (const row of rows) {
    const key = readAs(row.key, fields['keyType']);
    const value = readAs(row.value, fields['valueType']);
    if (typeof key === 'object' && key !== null) others.push([key, value]);
    else if (!scalars.has(key)) scalars.set(key, value);
  }
  const fallback = fields['defaultValue'];
  return (value) => {
    if (typeof value !== 'object') return scalars.has(value) ? scalars.get(value) : fallback;
    const found = others.find(([key]) => areEqual(key, value));
    return found === undefined ? fallback : found[1];
  };
};

const readAs = (value: unknown, type: unknown): unknown => {
  if (typeof value !== 'string') return value;
  if (type === 'number' && value.trim() !== '' && Number.isFinite(Number(value))) return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
};
