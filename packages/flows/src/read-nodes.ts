import {
  compileValidator,
  type FlowNode,
  type FlowNodeType,
  type SchemaProblem,
  type Validator,
} from '@decision/contracts';
import { type FlowAsset, type FlowAssets, type RuleAsset } from './assets';
import { type FlowProblems, shown } from './flow-problem';
import { knownTypeNames, type NodeKind, nodeKinds, typeNamed } from './node-kinds';

/** A node whose type is known and whose fields fit it. */
export interface ReadNode {
  /** Index in the document. */
  readonly position: number;
  readonly ref: string;
  readonly type: FlowNodeType;
  readonly kind: NodeKind;
  /** The node in its canonical form. */
  readonly fields: FlowNode;
  /** The rule or flow that it runs, if any. */
  readonly rule?: RuleAsset;
  readonly flow?: FlowAsset;
}

const validators = new Map<FlowNodeType, Validator<unknown>>();

const validatorOf = (type: FlowNodeType): Validator<unknown> => {
  const known = validators.get(type);
  if (known !== undefined) return known;
  const made = compileValidator(nodeKinds[type].fields);
  validators.set(type, made);
  return made;
};

/** The usable nodes of a document, by ref; the others are problems. */
export const readNodes = (
  nodes: readonly FlowNode[],
  assets: FlowAssets,
  problems: FlowProblems,
): ReadonlyMap<string, ReadNode> => {
  const read = new Map<string, ReadNode>();
  const refs = new Map<string, number>();
  nodes.forEach((node, position) => {
    const earlier = refs.get(node.ref);
    if (earlier !== undefined) {
      const message = `The ref "${shown(node.ref)}" belongs to node ${earlier} already; give node ${position} another one.`;
      problems.add('duplicate_ref', message, { path: `/nodes/${position}/ref`, ref: node.ref, field: 'ref' });
      return;
    }
    refs.set(node.ref, position);
    const one = readNode(node, position, assets, problems);
    if (one !== undefined) read.set(node.ref, one);
  });
  return read;
};

const readNode = (
  node: FlowNode,
  position: number,
  assets: FlowAssets,
  problems: FlowProblems,
): ReadNode | undefined => {
  const { ref } = node;
  const path = `/nodes/${position}`;
  const type = typeNamed(node.type);
  if (type === undefined) {
    const message = `The node "${shown(ref)}" has the type "${shown(node.type)}", which does not exist; use one of ${knownTypeNames.join(', ')}.`;
    problems.add('unknown_type', message, { path: `${path}/type`, ref, field: 'type' });
    return undefined;
  }
  const checked = validatorOf(type)(node);
  if (!checked.ok) {
    for (const problem of checked.problems) addFieldProblem(problem, { ref, type, path }, problems);
    return undefined;
  }
  const base = { position, ref, type, kind: nodeKinds[type], fields: canonical(node, type) };
  if (type === 'origin' || type === 'rule') {
    const rule = findRule(base.fields, path, assets, problems);
    return rule === undefined ? undefined : { ...base, rule };
  }
  if (type !== 'flow') return base;
  const flow = findFlow(base.fields, path, assets, problems);
  return flow === undefined ? undefined : { ...base, flow };
};

const addFieldProblem = (
  { path: within, message }: SchemaProblem,
  { ref, type, path }: { readonly ref: string; readonly type: FlowNodeType; readonly path: string },
  problems: FlowProblems,
): void => {
  const named = /'([^']+)'/.exec(message)?.[1];
  const field = within.split('/')[1] ?? named;
  const subject =
    within === '' ? `The node "${shown(ref)}"` : `The field ${within.slice(1)} of the node "${shown(ref)}"`;
  problems.add('invalid_field', `${subject}, of type ${type}, ${message}.`, {
    path: `${path}${within}`,
    ref,
    ...(field === undefined ? {} : { field }),
  });
};

/** The canonical name of the type, and `slug/version` as two fields. */
const canonical = (node: FlowNode, type: FlowNodeType): FlowNode => {
  const named = type === 'flow' ? 'flow' : 'rule';
  const asset = type === 'origin' || type === 'rule' || type === 'flow' ? node[named] : undefined;
  if (typeof asset !== 'string' || !asset.includes('/')) return { ...node, type };
  const [slug = '', version = ''] = asset.split('/', 2);
  return { ...node, type, [named]: slug, version: node['version'] ?? version };
};

/** A number or a text; the schema of its type was checked. */
const versionOf = (node: FlowNode): string | undefined => {
  const version = node['version'] as string | number | undefined;
  return version === undefined ? undefined : String(version);
};

const findRule = (node: FlowNode, path: string, assets: FlowAssets, problems: FlowProblems): RuleAsset | undefined => {
  const slug = String(node['rule']);
  const selector = versionOf(node) ?? 'latest';
  const rule = assets.findRule(slug, selector);
  if (rule === undefined) {
    const message = `The node "${shown(node.ref)}" runs the rule "${shown(slug)}" (${shown(selector)}), which is not published or not visible to you; publish it, or name another one.`;
    problems.add('unknown_rule', message, { path: `${path}/rule`, ref: node.ref, field: 'rule' });
  }
  return rule;
};

const findFlow = (node: FlowNode, path: string, assets: FlowAssets, problems: FlowProblems): FlowAsset | undefined => {
  const slug = String(node['flow']);
  const version = versionOf(node) ?? '';
  if (!/^[1-9]\d{0,8}$/.test(version)) {
    const message = `The node "${shown(node.ref)}" needs the number of a published version of the flow "${shown(slug)}"; set version, for example to 1.`;
    problems.add('invalid_field', message, { path: `${path}/version`, ref: node.ref, field: 'version' });
    return undefined;
  }
  const flow = assets.findFlow(slug, Number(version));
  if (flow === undefined) {
    const message = `The node "${shown(node.ref)}" runs version ${version} of the flow "${shown(slug)}", which is not published or not visible to you; publish it, or name another one.`;
    problems.add('unknown_flow', message, { path: `${path}/flow`, ref: node.ref, field: 'flow' });
  }
  return flow;
};
