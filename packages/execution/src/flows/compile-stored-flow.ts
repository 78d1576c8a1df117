import { type FlowDefinition, type FlowUse, ServiceError } from '@decision/contracts';
import { compileFlow, type CompiledRuleAsset, type FlowPlan } from '@decision/flows';
import { type AssetInterface } from '@decision/persistence';
import { type OnCompiled, timedCompile } from '../compilation';
import { type HeldRule, type RuleLibrary } from '../rule-library';

export interface RuleSources {
  readonly rules: Pick<RuleLibrary, 'open'>;
  /** Inputs and outputs of a version that is too large to be compiled in this thread. */
  readonly describeRule: (workspaceId: string, versionId: string) => Promise<AssetInterface | undefined>;
  readonly onCompiled?: OnCompiled | undefined;
}

interface CompileOrder {
  readonly workspaceId: string;
  readonly versionId: string;
  /** Of the flow and its subflows, by version; subflows come before their users. */
  readonly definitions: ReadonlyMap<string, FlowDefinition>;
  readonly reachesOut: boolean;
  /** The current version of a use of a rule. */
  readonly versionOf: (use: FlowUse) => string;
}

interface CompiledFlow {
  /** By version; undefined: too large to be compiled in this thread. */
  readonly rules: ReadonlyMap<string, HeldRule | undefined>;
  /** Undefined: the flow must run in a thread. An error if the flow does not compile with the rules that it uses now. */
  readonly plan: FlowPlan | undefined | ServiceError;
}

/** Compiles a flow with its subflows and rules. Throws `version_not_found` if one of them is gone. */
export const compileStoredFlow = async (sources: RuleSources, order: CompileOrder): Promise<CompiledFlow> => {
  const { workspaceId, definitions, reachesOut, versionOf } = order;
  const assets = new Map<string, CompiledRuleAsset>();
  const rules = new Map<string, HeldRule | undefined>();
  for (const use of [...definitions.values()].flatMap(({ uses }) => uses)) {
    const versionId = versionOf(use);
    if (use.kind !== 'rule' || rules.has(versionId)) continue;
    const held = await sources.rules.open(workspaceId, versionId);
    rules.set(versionId, held);
    // In a flow that does not reach out, a part that is not compiled here sends the whole flow to a thread.
    if (held === undefined && !reachesOut) return { rules, plan: undefined };
    assets.set(versionId, await assetOf(sources, workspaceId, versionId, use, held));
  }
  try {
    return { rules, plan: timedCompile('flow', sources.onCompiled, () => compileAll(order, assets)) };
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'flow_invalid') return { rules, plan: error };
    throw error;
  }
};

const assetOf = async (
  { describeRule }: RuleSources,
  workspaceId: string,
  versionId: string,
  { asset_id: id, slug }: FlowUse,
  held: HeldRule | undefined,
): Promise<CompiledRuleAsset> => {
  const head = { id, slug, version: 0, versionId, rule: held?.rule };
  if (held !== undefined) return { ...head, inputs: held.inputs, outputs: held.outputs };
  const fields = await describeRule(workspaceId, versionId);
  if (fields !== undefined) return { ...head, inputs: fields.requestSchema, outputs: fields.responseSchema };
  throw new ServiceError('version_not_found', `A version of the rule "${slug}" that a flow uses was deleted.`, {
    slug,
  });
};

const compileAll = (
  { versionId, definitions, reachesOut, versionOf }: CompileOrder,
  assets: ReadonlyMap<string, CompiledRuleAsset>,
): FlowPlan | undefined => {
  const plans = new Map<string, FlowPlan>();
  for (const [id, { nodes, connections, uses }] of definitions) {
    const named = new Map(uses.map((use) => [[use.kind, use.slug, use.selector].join(' '), use]));
    const plan = compileFlow(
      { id, slug: id, version: 1 },
      { nodes, connections },
      {
        findRule: (slug, selector) => {
          const use = named.get(['rule', slug, selector].join(' '));
          return use && assets.get(versionOf(use));
        },
        findFlow: (slug, version) => plans.get(named.get(['flow', slug, version].join(' '))?.version_id ?? ''),
      },
      { rulesAnswerLater: reachesOut },
    );
    plans.set(id, plan);
  }
  return plans.get(versionId);
};
