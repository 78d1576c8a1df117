import { cacheKeys } from '@decision/contracts';
import { deleteRule as deleteStoredRule, type WorkspaceAccess } from '@decision/persistence';
import { type AnnouncingContext, changeAndAnnounce } from '../announcing';
import { ruleReleased } from '../releases/release-errors';
import { ruleBound, ruleNotFound } from './rule-errors';

/** Deletes a rule that nothing needs and answers its slug. Throws `rule_not_found`, `rule_released` or `rule_bound`. */
export const deleteRule = (context: AnnouncingContext, access: WorkspaceAccess, id: string): Promise<string> =>
  changeAndAnnounce(context, access, async (transaction, owe) => {
    const outcome = await deleteStoredRule(transaction, id);
    switch (outcome.status) {
      case 'not_found':
        throw ruleNotFound({ id });
      case 'released':
        throw ruleReleased(outcome.slug, outcome.releases);
      case 'bound':
        throw ruleBound(outcome.slug, outcome.context);
      case 'deleted':
        owe({ kind: 'rule', keys: [cacheKeys.rulePointer(access.workspaceId, outcome.slug)] });
        return outcome.slug;
    }
  });
