import {
  cacheKeys,
  deleteRule,
  exportRule,
  importRule as importRuleOperation,
  listRules,
  ServiceError,
} from '@decision/contracts';
import { deleteRule as deleteStoredRule, findRule } from '@decision/persistence';
import { bindOperation, type BoundOperation } from '@decision/service-kit';
import { accessOf } from '../access';
import { type ImportContext, importRule } from '../rules/import-rule';
import { listRulesWith } from '../rules/list-rules';
import { toDocument } from '../rules/rule-answers';
import { readPageQuery } from './page-query';

/** The calls under /api/v1/admin/rules. */
export const ruleRoutes = (context: ImportContext): readonly BoundOperation[] => [
  bindOperation(listRules, async ({ identity, query }) => {
    const { limit, cursor, labels, user_group: userGroup, include, ...filters } = query;
    const paged = limit !== undefined || cursor !== undefined;
    const listed = await listRulesWith(context, accessOf(identity), {
      filters: { ...filters, userGroup, labels: labels?.split(',') },
      page: paged ? readPageQuery({ limit, cursor }) : undefined,
      included: new Set(include?.split(',')),
    });
    return paged ? listed : listed.data;
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
    await context.announce('rule', access.workspaceId, [cacheKeys.rulePointer(access.workspaceId, deleted.slug)]);
    return { message: `Rule "${deleted.slug}" was deleted.` };
  }),
];

const ruleNotFound = (id: string): ServiceError =>
  new ServiceError('rule_not_found', `No rule with the id ${id} is visible to this key.`, { id });
