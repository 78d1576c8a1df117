import {
  cacheKeys,
  deleteRule,
  exportRule,
  importRule as importRuleOperation,
  listRules,
  ServiceError,
} from '@decision/contracts';
import { deleteRule as deleteStoredRule, findRule, listRules as listStoredRules } from '@decision/persistence';
import { bindOperation, type BoundOperation } from '@decision/service-kit';
import { accessOf } from '../access';
import { ruleReleased } from '../releases/release-errors';
import { type ImportContext, importRule } from '../rules/import-rule';
import { toDocument, toListed } from '../rules/rule-answers';
import { readPageQuery } from './page-query';

/** The calls under /api/v1/admin/rules. */
export const ruleRoutes = (context: ImportContext): readonly BoundOperation[] => [
  bindOperation(listRules, async ({ identity, query }) => {
    const { limit, cursor, labels, user_group: userGroup, ...filters } = query;
    const paged = limit !== undefined || cursor !== undefined;
    const { rules, nextCursor } = await context.database.inWorkspace(accessOf(identity), (transaction) =>
      listStoredRules(
        transaction,
        { ...filters, userGroup, labels: labels?.split(',') },
        paged ? readPageQuery({ limit, cursor }) : undefined,
      ),
    );
    const data = rules.map(toListed);
    return paged ? { data, next_cursor: nextCursor } : data;
  }),
  bindOperation(exportRule, async ({ identity, query }) => {
    const rule = await context.database.inWorkspace(accessOf(identity), (transaction) =>
      findRule(transaction, { id: query.id }),
    );
    if (rule === undefined) throw ruleNotFound(query.id);
    return toDocument(rule);
  }),
  bindOperation(importRuleOperation, async ({ identity, body }) =>
    toDocument(await importRule(context, accessOf(identity), body.rule)),
  ),
  bindOperation(deleteRule, async ({ identity, body }) => {
    const access = accessOf(identity);
    const deleted = await context.database.inWorkspace(access, (transaction) => deleteStoredRule(transaction, body.id));
    if (deleted.status === 'not_found') throw ruleNotFound(body.id);
    if (deleted.status === 'released') throw ruleReleased(deleted.slug, deleted.releases);
    await context.announce('rule', access.workspaceId, [cacheKeys.rulePointer(access.workspaceId, deleted.slug)]);
    return { message: `Rule "${deleted.slug}" was deleted.` };
  }),
];

const ruleNotFound = (id: string): ServiceError =>
  new ServiceError('rule_not_found', `No rule with the id ${id} is visible to this key.`, { id });
