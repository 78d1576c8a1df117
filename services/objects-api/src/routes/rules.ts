import { accessOf } from '@decision/infrastructure';
import {
  deleteRule as deleteOperation,
  diffRule as diffOperation,
  exportRule,
  importRule as importOperation,
  listRules as listOperation,
  listRuleVersions,
  publishRuleVersion,
} from '@decision/contracts';
import { findAsset, type RuleRecord } from '@decision/persistence';
import { Answer, bindOperation, type BoundOperation, readPageQuery } from '@decision/service-kit';
import { type ImportContext, importRule } from '../rules/import-rule';
import { ignoredFields } from '../rules/read-import';
import { listRules } from '../rules/list-rules';
import { toDocument } from '../rules/rule-answers';
import { assetNotFound } from '../assets/asset-errors';
import { deleteAsset } from '../assets/delete-asset';
import { assetEtag } from '../assets/expectation';
import { diffRule, listVersions, publishAgain } from '../rules/versions';

/** The calls under /api/v1/admin/rules. */
export const ruleRoutes = (context: ImportContext): readonly BoundOperation[] => [
  bindOperation(listOperation, async ({ identity, query }) => {
    const { limit, cursor, ...filters } = query;
    const paged = limit !== undefined || cursor !== undefined;
    const page = paged ? readPageQuery({ limit, cursor }) : undefined;
    const listed = await listRules(context, accessOf(identity), filters, page);
    return paged ? listed : listed.data;
  }),
  bindOperation(exportRule, async ({ identity, query: { id } }) => {
    const rule = await context.database.inWorkspace(accessOf(identity), (transaction) =>
      findAsset(transaction, 'rule', { id }),
    );
    if (rule === undefined) throw assetNotFound('rule', { id });
    return answerDocument(rule);
  }),
  bindOperation(importOperation, async ({ identity, body, header }) =>
    answerDocument(
      await importRule(context, accessOf(identity), body.rule, {
        updatedAt: body.expected_updated_at,
        ifMatch: header('if-match'),
      }),
      ignoredFields('rule', body.rule),
    ),
  ),
  bindOperation(deleteOperation, async ({ identity, body }) => ({
    message: await deleteAsset(context, accessOf(identity), 'rule', body.id),
  })),
  bindOperation(listRuleVersions, ({ identity, params, query: { limit, cursor } }) =>
    listVersions(context, accessOf(identity), {
      kind: 'rule',
      slug: slugOf(params),
      limit: readPageQuery({ limit }).limit,
      before: cursor === undefined ? undefined : Number(cursor),
    }),
  ),
  bindOperation(publishRuleVersion, async ({ identity, params }) =>
    answerDocument(
      await publishAgain(context, accessOf(identity), {
        kind: 'rule',
        slug: slugOf(params),
        version: params['version'] ?? '',
      }),
    ),
  ),
  bindOperation(diffOperation, ({ identity, params, query }) =>
    diffRule(context, accessOf(identity), slugOf(params), query),
  ),
];

const answerDocument = (rule: RuleRecord, ignored: ReturnType<typeof ignoredFields> = []) => {
  const document = toDocument(rule);
  const told = ignored.length === 0 ? document : { ...document, ignored };
  return new Answer(told, { headers: { etag: assetEtag(rule) } });
};

const slugOf = (params: Readonly<Record<string, string>>): string => params['slug'] ?? '';
