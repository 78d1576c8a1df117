import { cacheKeys } from '@decision/contracts';
import { deleteRule as deleteStoredRule, type DeleteAssetOutcome, type WorkspaceAccess } from '@decision/persistence';
import { type AnnouncingContext, changeAndAnnounce } from '../announcements';
import { ruleReleased } from '../releases/release-answers';
import { ruleBound, ruleNotFound } from '../rule-errors';

type DeletedAsset = Extract<DeleteAssetOutcome, { status: 'deleted' }>;

/** Deletes a rule that nothing needs and answers a sentence, which names the flows that go on with versions of it. Throws `rule_not_found`, `rule_released` or `rule_bound`. */
export const deleteRule = (context: AnnouncingContext, access: WorkspaceAccess, id: string): Promise<string> =>
  changeAndAnnounce(context, access, async (transaction, announceLater) => {
    const outcome = await deleteStoredRule(transaction, id);
    switch (outcome.status) {
      case 'not_found':
        throw ruleNotFound({ id });
      case 'released':
        throw ruleReleased(outcome.slug, outcome.releases);
      case 'bound':
        throw ruleBound(outcome.slug, outcome.context);
      case 'deleted':
        for (const keys of staleKeys(access.workspaceId, id, outcome)) announceLater({ kind: 'rule', keys });
        return sentenceOf(outcome);
    }
  });

/** Flows that an answer names at most. */
const MAX_NAMED = 5;

const sentenceOf = ({ slug, usingFlows }: DeletedAsset): string => {
  if (usingFlows.length === 0) return `Rule "${slug}" was deleted.`;
  const named = usingFlows.slice(0, MAX_NAMED).map((flow) => `"${flow.slug}"`);
  const more = usingFlows.length > MAX_NAMED ? ` and ${usingFlows.length - MAX_NAMED} more` : '';
  return `Rule "${slug}" was deleted; flows go on with its published versions: ${named.join(', ')}${more}.`;
};

/** Keys that one announcement names at most. */
const MAX_ANNOUNCED = 5_000;

/**
 * Cache keys of a deleted rule, in pieces that can be announced: where its slug points, and its versions. A rule may be imported again under the id,
 * with another slug: no number of the deleted one may be answered then.
 */
const staleKeys = (
  workspaceId: string,
  ruleId: string,
  { slug, versions }: DeletedAsset,
): readonly (readonly string[])[] => {
  const keys = [
    cacheKeys.rulePointer(workspaceId, slug),
    ...versions.map(({ number }) => cacheKeys.numberedVersion(ruleId, number)),
    ...versions.map((version) => cacheKeys.definition(workspaceId, version.id)),
  ];
  const pieces: (readonly string[])[] = [];
  for (let from = 0; from < keys.length; from += MAX_ANNOUNCED) pieces.push(keys.slice(from, from + MAX_ANNOUNCED));
  return pieces;
};
