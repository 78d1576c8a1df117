import {
  deleteFlow,
  diffFlow as diffOperation,
  exportFlow,
  importFlow as importOperation,
  listFlows as listOperation,
  listFlowVersions,
  publishFlowVersion,
  ServiceError,
} from '@decision/contracts';
import { accessOf } from '@decision/infrastructure';
import { findAsset } from '@decision/persistence';
import { Answer, bindOperation, type BoundOperation, readPageQuery } from '@decision/service-kit';
import { assetNotFound } from '../assets/asset-errors';
import { deleteAsset } from '../assets/delete-asset';
import { assetEtag } from '../assets/expectation';
import { diffFlow } from '../flows/diff-flows';
import { type FlowImportContext, importFlow } from '../flows/import-flow';
import { listFlows, toFlowDocument } from '../flows/list-flows';
import { ignoredFields } from '../rules/read-import';
import { listVersions, publishAgain } from '../rules/versions';

/** The calls under /api/v1/admin/flows. */
export const flowRoutes = (context: FlowImportContext): readonly BoundOperation[] => [
  bindOperation(listOperation, async ({ identity, query }) => {
    const { limit, cursor, ...filters } = query;
    const paged = limit !== undefined || cursor !== undefined;
    const page = paged ? readPageQuery({ limit, cursor }) : undefined;
    const listed = await listFlows(context, accessOf(identity), filters, page);
    return paged ? listed : listed.data;
  }),
  bindOperation(exportFlow, async ({ identity, query }) => {
    const name = nameOf(query);
    const flow = await context.database.inWorkspace(accessOf(identity), (transaction) =>
      findAsset(transaction, 'flow', name),
    );
    if (flow === undefined) throw assetNotFound('flow', name);
    return new Answer(toFlowDocument(flow), { headers: { etag: assetEtag(flow) } });
  }),
  bindOperation(importOperation, async ({ identity, body, header }) => {
    const flow = await importFlow(context, accessOf(identity), body.flow, {
      updatedAt: body.expected_updated_at,
      ifMatch: header('if-match'),
    });
    const { id, slug, name, publishedVersion: version, updatedAt } = flow;
    const ignored = ignoredFields('flow', body.flow);
    const answer = { id, slug, name, published: version !== null, version, updatedAt };
    return new Answer(ignored.length === 0 ? answer : { ...answer, ignored }, { headers: { etag: assetEtag(flow) } });
  }),
  bindOperation(deleteFlow, async ({ identity, body }) => ({
    message: await deleteAsset(context, accessOf(identity), 'flow', body.id),
  })),
  bindOperation(listFlowVersions, ({ identity, params, query: { limit, cursor } }) =>
    listVersions(context, accessOf(identity), {
      kind: 'flow',
      slug: params['slug'] ?? '',
      limit: readPageQuery({ limit }).limit,
      before: cursor === undefined ? undefined : Number(cursor),
    }),
  ),
  bindOperation(diffOperation, ({ identity, params, query }) =>
    diffFlow(context, accessOf(identity), params['slug'] ?? '', query),
  ),
  bindOperation(publishFlowVersion, async ({ identity, params }) => {
    const { slug = '', version = '' } = params;
    const flow = await publishAgain(context, accessOf(identity), { kind: 'flow', slug, version });
    return new Answer(toFlowDocument(flow), { headers: { etag: assetEtag(flow) } });
  }),
];

const nameOf = ({ id, slug }: { readonly id?: string; readonly slug?: string }) => {
  if (id !== undefined) return { id };
  if (slug !== undefined) return { slug };
  throw new ServiceError('invalid_request', 'Name the flow by the parameter "id" or "slug".', {
    problems: [{ in: 'query', path: '/id', message: 'is needed where there is no slug' }],
  });
};
