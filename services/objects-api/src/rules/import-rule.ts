import { assignableGroups } from '@decision/service-kit';
import { cacheKeys, type RuleImport, ServiceError, slugOf } from '@decision/contracts';
import { type RuleProblem } from '@decision/engine';
import {
  findRule,
  insertRule,
  lockRule,
  publishRule,
  type RuleChanges,
  type RuleDraft,
  type RuleRecord,
  type Transaction,
  unpublishRule,
  updateRule,
  type WorkspaceAccess,
} from '@decision/persistence';
import { type AnnouncingContext, changeAndAnnounce } from '../announcements';
import { ruleReleased } from '../releases/release-answers';
import { changedGroups } from '../grants';
import { bindValues } from './bind-values';
import { type BindingProblem, problemsOfDraft } from './check-binding';
import { requireTested, withTestIds } from '../tests/run-suite';
import { bindSources } from './field-sources';
import { type ImportProblem, problemsOfImport } from './read-import';
import { draftChanges, newDraft } from './rule-draft';
import { ruleNotFound, ruleStale } from '../rule-errors';
import { type Expectation, expectsRule, isAsExpected } from './rule-answers';

/** Dependencies of an import. */
export interface ImportContext extends AnnouncingContext {
  readonly newId: () => string;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Attempts to make a slug of a name unique with `-2` and so on. */
const MAX_SLUG_ATTEMPTS = 50;

/**
 * Creates or changes a rule, then publishes or unpublishes it as asked, in one transaction. Throws `rule_invalid` with every
 * problem, `invalid_request` for groups that the key has not, `slug_taken`, `rule_released`, `tests_failed`, or where the rule is not as expected `rule_stale` and `rule_not_found`; then
 * nothing has changed.
 */
export const importRule = (
  context: ImportContext,
  access: WorkspaceAccess,
  imported: RuleImport,
  expectation: Expectation = {},
): Promise<RuleRecord> =>
  changeAndAnnounce(context, access, async (transaction, announceLater) => {
    requireNone(problemsOfImport(imported));
    const before = await findExpected(transaction, imported.id, expectation);
    const given = await bindSources(transaction, withIds(draftChanges(imported), context));
    const changes = await bindDraft(transaction, before, given);
    const draft = { ...(before ?? newDraft({})), ...changes };
    const isRestricted = access.userGroups !== undefined;
    const isComplete = imported._publish === true;
    requireNone(await problemsOfDraft(transaction, { draft, before, isRestricted, isComplete }));
    const saved = before
      ? await change(transaction, before, {
          ...changes,
          ...slugChange(imported),
          ...groupsChange(access, before, imported),
        })
      : await create(transaction, context, access, { imported, draft: { ...newDraft({}), ...changes } });
    const after = await setPublication(transaction, context, saved, imported);
    const slugs = new Set([before?.slug, after.slug].filter((slug) => slug !== undefined));
    announceLater({ kind: 'rule', keys: [...slugs].map((slug) => cacheKeys.rulePointer(access.workspaceId, slug)) });
    return after;
  });

/** The rule to change, locked, so that what is checked here is what is changed. */
const findExpected = async (
  transaction: Transaction,
  id: string | undefined,
  expectation: Expectation,
): Promise<RuleRecord | undefined> => {
  const locked = id === undefined ? undefined : await lockRule(transaction, { id });
  const rule = locked && (await findRule(transaction, { id: locked.id }));
  if (rule === undefined && expectsRule(expectation))
    throw id === undefined
      ? new ServiceError('rule_not_found', 'A change of a rule as it was seen must name the rule by its id.')
      : ruleNotFound({ id });
  if (rule !== undefined && !isAsExpected(rule, expectation)) throw ruleStale(rule);
  return rule;
};

/** Tests that come without an id are given one. */
const withIds = (changes: Partial<RuleDraft>, { newId }: ImportContext): Partial<RuleDraft> =>
  changes.testSuite === undefined ? changes : { ...changes, testSuite: withTestIds(changes.testSuite, newId) };

/** The changes with their references by id. Throws `rule_invalid` where the draft could not be executed with them. */
const bindDraft = async (
  transaction: Transaction,
  existing: RuleRecord | undefined,
  changes: Partial<RuleDraft>,
): Promise<RuleChanges> => {
  const given = tableOf({ ...(existing ?? newDraft({})), ...changes });
  const { table, valueIds, problems } = await bindValues(transaction, given, existing && tableOf(existing));
  requireNone(problems);
  return table === given ? { ...changes, valueIds } : { ...changes, ...table, valueIds };
};

export const requireNone = (problems: readonly (RuleProblem | BindingProblem | ImportProblem)[]): void => {
  if (problems.length === 0) return;
  const [first] = problems;
  const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more, see problems)`;
  throw new ServiceError('rule_invalid', `The rule cannot be executed: ${describe(first)}${more}`, { problems });
};

const describe = (problem: Pick<RuleProblem, 'message'> | undefined): string => problem?.message ?? 'it has a fault';

const tableOf = ({ requestSchema, responseSchema, conditions, groups, settings }: RuleDraft) => ({
  requestSchema,
  responseSchema,
  conditions,
  groups,
  settings,
});

const slugChange = ({ slug }: RuleImport): RuleChanges => (slug === undefined ? {} : { slug });

const groupsChange = (
  { userGroups: own }: WorkspaceAccess,
  { userGroups: before }: RuleRecord,
  { user_groups: wanted }: RuleImport,
): RuleChanges => (wanted === undefined ? {} : { userGroups: changedGroups(own, before, wanted) });

const change = async (transaction: Transaction, existing: RuleRecord, changes: RuleChanges): Promise<RuleRecord> => {
  const outcome = await updateRule(transaction, existing.id, changes);
  switch (outcome.status) {
    case 'updated':
      return outcome.asset;
    case 'slug_taken':
      throw slugTaken(changes.slug ?? existing.slug);
    case 'not_found':
    case 'stale':
      throw new ServiceError('rule_not_found', `The rule ${existing.id} was deleted while it was being changed.`);
  }
};

const create = async (
  transaction: Transaction,
  context: ImportContext,
  access: WorkspaceAccess,
  { imported, draft }: { readonly imported: RuleImport; readonly draft: RuleDraft & RuleChanges },
): Promise<RuleRecord> => {
  const id = imported.id ?? context.newId();
  const userGroups = assignableGroups(access.userGroups, imported.user_groups);
  for (const slug of slugCandidates(imported.slug, draft.name)) {
    const outcome = await insertRule(transaction, { ...draft, id, slug, userGroups });
    if (outcome.status === 'inserted') return outcome.asset;
    if (outcome.status === 'id_taken') {
      // The rule exists but not for this key; it must look as any other failure to create under a taken name.
      throw new ServiceError(
        'slug_taken',
        `A rule cannot be created under the id ${id}; leave the id out to have one made.`,
        { id },
      );
    }
    if (imported.slug !== undefined) throw slugTaken(slug);
  }
  throw slugTaken(ruleSlugOf(draft.name));
};

const slugCandidates = function* (given: string | undefined, name: string): Generator<string> {
  const first = given ?? ruleSlugOf(name);
  yield first;
  for (let attempt = 2; attempt <= MAX_SLUG_ATTEMPTS; attempt += 1) yield `${first}-${attempt}`;
};

const slugTaken = (slug: string): ServiceError =>
  new ServiceError(
    'slug_taken',
    `Another rule already has the slug "${slug}"; choose another one, or import with that rule's id to change it.`,
    { slug },
  );

/** Publishes or unpublishes as asked and answers the rule as it then is. Both at once: it ends unpublished. */
const setPublication = async (
  transaction: Transaction,
  context: ImportContext,
  rule: RuleRecord,
  imported: RuleImport,
): Promise<RuleRecord> => {
  if (imported._unpublish !== true && imported._publish !== true) return rule;
  if (imported._unpublish === true) {
    const outcome = await unpublishRule(transaction, rule.id);
    if (outcome.status === 'released') throw ruleReleased(outcome.slug, outcome.releases);
  } else {
    await requireTested(transaction, context, rule);
    await publishRule(transaction, rule.id, { versionId: context.newId() });
  }
  const changed = await findRule(transaction, { id: rule.id });
  if (changed !== undefined) return changed;
  throw new ServiceError('rule_not_found', `The rule ${rule.id} was deleted while it was being changed.`);
};

const ruleSlugOf = (name: string): string => slugOf(name, 80) || 'rule';
