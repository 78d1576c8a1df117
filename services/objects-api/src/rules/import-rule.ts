import {
  type AssetKind,
  emptyDraft,
  givenDraft,
  type RuleDraft,
  ruleFields,
  type RuleImport,
  ServiceError,
} from '@decision/contracts';
import { type RuleProblem } from '@decision/engine';
import {
  publishAsset,
  type AssetChanges,
  type RuleRecord,
  type Transaction,
  type WorkspaceAccess,
} from '@decision/persistence';
import { type AnnouncingContext, changeAndAnnounce } from '../announcements';
import { type Expectation } from '../assets/expectation';
import { changeAsset, createAsset, findExpected, pointerKey, readAgain, unpublish } from '../assets/save-asset';
import { requireTested, withTestIds } from '../tests/run-suite';
import { bindValues } from './bind-values';
import { type BindingProblem, problemsOfDraft } from './check-binding';
import { bindSources } from './field-sources';
import { type ImportProblem, problemsOfImport } from './read-import';

const EMPTY_DRAFT = emptyDraft(ruleFields);

/** Dependencies of an import. */
export interface ImportContext extends AnnouncingContext {
  readonly newId: () => string;
  /** Epoch ms. */
  readonly now: () => number;
}

/**
 * Creates or changes a rule, then publishes or unpublishes it as requested, in one transaction. Throws `rule_invalid` with every problem,
 * `invalid_request` for groups that the key does not have, `slug_taken`, `rule_released`, `tests_failed`, or, if the rule is not as expected,
 * `rule_stale` and `rule_not_found`; nothing has changed then.
 */
export const importRule = (
  context: ImportContext,
  access: WorkspaceAccess,
  imported: RuleImport,
  expectation: Expectation = {},
): Promise<RuleRecord> =>
  changeAndAnnounce(context, access, async (transaction, announceLater) => {
    requireNone(problemsOfImport(imported));
    const before = await findExpected(transaction, 'rule', imported.id, expectation);
    const given = await bindSources(transaction, withIds(givenDraft(ruleFields, imported), context));
    const changes = await bindDraft(transaction, before, given);
    const draft = { ...(before ?? EMPTY_DRAFT), ...changes };
    const isRestricted = access.userGroups !== undefined;
    const isComplete = imported._publish === true;
    requireNone(await problemsOfDraft(transaction, { draft, before, isRestricted, isComplete }));
    const saved = before
      ? await changeAsset(transaction, access, 'rule', before, imported, changes)
      : await createAsset(transaction, access, 'rule', withId(imported, context), { ...EMPTY_DRAFT, ...changes });
    const after = await setPublication(transaction, context, saved, imported);
    const slugs = new Set([before?.slug, after.slug].filter((slug) => slug !== undefined));
    announceLater({ kind: 'rule', keys: [...slugs].map((slug) => pointerKey(access.workspaceId, 'rule', slug)) });
    return after;
  });

/** The import under its own id or a new one. */
const withId = (imported: RuleImport, { newId }: ImportContext) => ({ ...imported, id: imported.id ?? newId() });

/** Gives new ids to tests that have none. */
const withIds = (changes: Partial<RuleDraft>, { newId }: ImportContext): Partial<RuleDraft> =>
  changes.testSuite === undefined ? changes : { ...changes, testSuite: withTestIds(changes.testSuite, newId) };

/** The changes with their references by id. Throws `rule_invalid` if the draft could not be executed with them. */
const bindDraft = async (
  transaction: Transaction,
  existing: RuleRecord | undefined,
  changes: Partial<RuleDraft>,
): Promise<AssetChanges<'rule'>> => {
  const given = tableOf({ ...(existing ?? EMPTY_DRAFT), ...changes });
  const { table, valueIds, problems } = await bindValues(transaction, given, existing && tableOf(existing));
  requireNone(problems);
  return table === given ? { ...changes, valueIds } : { ...changes, ...table, valueIds };
};

/** Throws `rule_invalid` or `flow_invalid` with all problems, if there are any. */
export const requireNone = (
  problems: readonly (RuleProblem | BindingProblem | ImportProblem)[],
  kind: AssetKind = 'rule',
): void => {
  if (problems.length === 0) return;
  const [first] = problems;
  const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more, see problems)`;
  throw new ServiceError(`${kind}_invalid`, `The ${kind} cannot be executed: ${describe(first)}${more}`, { problems });
};

const describe = (problem: Pick<RuleProblem, 'message'> | undefined): string => problem?.message ?? 'it has a fault';

const tableOf = ({ requestSchema, responseSchema, conditions, groups, settings }: RuleDraft) => ({
  requestSchema,
  responseSchema,
  conditions,
  groups,
  settings,
});

/** Publishes or unpublishes as requested and answers the resulting rule. With both, it ends unpublished. */
const setPublication = async (
  transaction: Transaction,
  context: ImportContext,
  rule: RuleRecord,
  imported: RuleImport,
): Promise<RuleRecord> => {
  if (imported._unpublish !== true && imported._publish !== true) return rule;
  if (imported._unpublish === true) await unpublish(transaction, 'rule', rule.id);
  else {
    await requireTested(transaction, context, rule);
    await publishAsset(transaction, 'rule', rule.id, { versionId: context.newId() });
  }
  return readAgain(transaction, 'rule', rule.id);
};
