import {
  emptyDraft,
  type FlowDraft,
  flowFields,
  type FlowImport,
  type FlowNode,
  givenDraft,
  type RuleField,
  ServiceError,
} from '@decision/contracts';
import { checkFlow, type FlowLimits } from '@decision/flows';
import {
  type AssetRecord,
  findContextOfRule,
  publishAsset,
  type Transaction,
  type WorkspaceAccess,
} from '@decision/persistence';
import { changeAndAnnounce } from '../announcements';
import { type Expectation } from '../assets/expectation';
import { changeAsset, createAsset, findExpected, pointerKey, readAgain, unpublish } from '../assets/save-asset';
import { type BindingProblem, problemsOfDraft } from '../rules/check-binding';
import { type ImportContext } from '../rules/import-rule';
import { problemsOfFlowImport } from '../rules/read-import';
import { withTestIds } from '../tests/run-suite';
import { type FlowProblem, problemsOfCode } from './check-code';
import { problemsOfEntities } from './check-entities';
import { findNamedAssets, type NamedAssets } from './flow-assets';
import { type LiveCalls } from '../tests/live-calls';
import { requireFlowTested } from './test-flow';

type FlowRecord = AssetRecord<'flow'>;

const EMPTY_DRAFT = emptyDraft(flowFields);

/** Dependencies of importing flows. */
export interface FlowImportContext extends ImportContext {
  /** Makes outside calls for live tests. */
  readonly live: LiveCalls;
  readonly flowLimits: FlowLimits;
}

/**
 * Creates or changes a flow and publishes it unless the import says otherwise, in one transaction. Throws `flow_invalid` with every problem,
 * `invalid_request` for groups that the key does not have, `slug_taken`, `flow_released`, `tests_failed`, or, if the flow is not as expected,
 * `flow_stale` and `flow_not_found`; nothing has changed then.
 */
export const importFlow = (
  context: FlowImportContext,
  access: WorkspaceAccess,
  imported: FlowImport,
  expectation: Expectation = {},
): Promise<FlowRecord> =>
  changeAndAnnounce(context, access, async (transaction, announceLater) => {
    requireNone(problemsOfFlowImport(imported));
    const before = await findExpected(transaction, 'flow', imported.id, expectation);
    const { draft, checked } = await checkDraft(transaction, { imported, before }, context);
    const isRestricted = access.userGroups !== undefined;
    const problems = await problemsOfDraft(transaction, {
      ...{ draft, before, isRestricted, isComplete: isPublished(imported) },
    });
    requireNone(problems.map((problem) => toFlowFault(problem, isTakenOver({ imported, before }))));
    const saved = before
      ? await changeAsset(transaction, access, 'flow', before, imported, draft)
      : await createAsset(transaction, access, 'flow', { ...imported, id: imported.id ?? context.newId() }, draft);
    if (imported._unpublish === true) await unpublish(transaction, 'flow', saved.id);
    else if (checked !== undefined) {
      await requireFlowTested(transaction, { ...context, access }, saved, checked.assets.uses);
      await publish(transaction, context, saved, checked);
    }
    const after = await readAgain(transaction, 'flow', saved.id);
    const slugs = new Set([before?.slug, after.slug].filter((slug) => slug !== undefined));
    announceLater({ kind: 'flow', keys: [...slugs].map((slug) => pointerKey(access.workspaceId, 'flow', slug)) });
    return after;
  });

const isPublished = ({ _publish, _unpublish }: FlowImport): boolean => _publish !== false && _unpublish !== true;

interface GivenFlow {
  readonly imported: FlowImport;
  readonly before: FlowRecord | undefined;
}

/** The parts of a version, apart from the draft. */
interface CheckedFlow {
  readonly assets: NamedAssets;
  readonly reachesOut: boolean;
}

interface CheckedDraft {
  readonly draft: FlowDraft;
  /** Undefined if the flow is not to be published. */
  readonly checked: CheckedFlow | undefined;
}

/** The draft as it is to be stored. Throws `flow_invalid` with all problems of its graph. */
const checkDraft = async (
  transaction: Transaction,
  { imported, before }: GivenFlow,
  { newId, flowLimits }: FlowImportContext,
): Promise<CheckedDraft> => {
  const { testSuite } = imported;
  const draft: FlowDraft = {
    ...(before ?? EMPTY_DRAFT),
    ...givenDraft(flowFields, imported),
    ...(testSuite === undefined ? {} : { testSuite: withTestIds(testSuite, newId) }),
  };
  const isChanged = imported.nodes !== undefined || imported.connections !== undefined;
  if (!isChanged && !isPublished(imported) && before !== undefined) return { draft, checked: undefined };
  const graph = {
    nodes: imported.nodes ?? draft.graph.nodes,
    connections: imported.connections ?? draft.graph.connections,
  };
  const assets = await findNamedAssets(transaction, graph, before?.graph);
  const { problems, graph: canonical, asset } = checkFlow(graph, assets, before ?? imported, flowLimits);
  requireNone([
    ...problems,
    ...(await problemsOfCode(canonical.nodes)),
    ...(await problemsOfEntities(transaction, canonical, before?.graph)),
  ]);
  const checked = { ...draft, graph: canonical, requestSchema: [...inputsOf(canonical.nodes, assets)] };
  const context = isTakenOver({ imported, before })
    ? await contextOfOrigin(transaction, canonical.nodes)
    : draft.context;
  return {
    draft: { ...checked, context, responseSchema: [...(asset?.outputs ?? [])] },
    checked: isPublished(imported) ? { assets, reachesOut: asset?.reachesOut ?? false } : undefined,
  };
};

/** Whether the flow starts with the context of its origin rule: it is new, and the import does not mention a context (docs/adr/0038). */
const isTakenOver = ({ imported, before }: GivenFlow): boolean =>
  before === undefined && imported.context === undefined;

const contextOfOrigin = async (transaction: Transaction, nodes: readonly FlowNode[]): Promise<unknown> => {
  const rule = nodes.find(({ type }) => type === 'origin')?.['rule'];
  const slug = await findContextOfRule(transaction, String(rule));
  return slug === undefined ? null : { slug, version: 'latest' };
};

/** A problem of its binding cannot point at fields, since a flow has none of its own. */
const toFlowFault = ({ code, message, path }: BindingProblem, takenOver: boolean): FlowProblem => ({
  code,
  path: path.startsWith('/context') ? path : '/context',
  message: takenOver
    ? `${message} It took the context of its origin rule over; give "context": null to bind it to none.`
    : message,
});

/** The fields of the rule whose input is the input of the flow. */
const inputsOf = (nodes: readonly FlowNode[], assets: NamedAssets): readonly RuleField[] => {
  const origin = nodes.find(({ type }) => type === 'origin');
  const version = origin?.['version'] as string | number | undefined; // the check of the flow has verified it
  return assets.rule(String(origin?.['rule']), String(version ?? 'latest'))?.requestSchema ?? [];
};

const publish = async (
  transaction: Transaction,
  { newId }: ImportContext,
  { id, requestSchema, responseSchema }: FlowRecord,
  { assets, reachesOut }: CheckedFlow,
): Promise<void> => {
  const flow = { requestSchema, responseSchema, uses: [...assets.uses], reachesOut };
  const outcome = await publishAsset(transaction, 'flow', id, { versionId: newId(), flow });
  if (outcome.status !== 'uses_gone') return;
  requireNone(
    outcome.uses.map(({ kind, slug }) => ({
      code: `unknown_${kind}`,
      message: `The ${kind} "${slug}" was deleted while the flow was being imported; name another one.`,
      path: '/nodes',
    })),
  );
};

const requireNone = (problems: readonly FlowProblem[]): void => {
  const [first] = problems;
  if (first === undefined) return;
  const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more, see problems)`;
  throw new ServiceError('flow_invalid', `The flow cannot be executed: ${first.message}${more}`, { problems });
};
