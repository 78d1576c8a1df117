import { FlowDocument, ListedFlow, type ListFlowsQuery, toShown } from '@decision/contracts';
import {
  type AssetRecord,
  type AssetSummary,
  type Database,
  findOriginRules,
  listAssets,
  resolveAssets,
  type Transaction,
  type WorkspaceAccess,
} from '@decision/persistence';
import { type PageQuery } from '@decision/service-kit';
import { assetNotPublished, versionNotFound } from '../assets/asset-errors';
import { filtersOf, findOnly, listedMembers, toListedFields } from '../assets/list-assets';

type FlowSummary = AssetSummary<'flow'>;

/**
 * The flows that pass the filters: all of them, or a page. With `version` the filters must match exactly one, which is shown with the input of that
 * version. Throws `flow_not_found`, `invalid_request`, `flow_not_published` or `version_not_found`.
 */
export const listFlows = (
  { database }: { readonly database: Database },
  access: WorkspaceAccess,
  { version, ...query }: Omit<ListFlowsQuery, 'limit' | 'cursor'>,
  page: PageQuery | undefined,
): Promise<{ readonly data: ListedFlow[]; readonly next_cursor: string | null }> =>
  database.inWorkspace(access, async (transaction) => {
    const filters = filtersOf(query);
    if (version !== undefined) {
      const flow = await findOnly(transaction, 'flow', filters);
      return { data: [await toListedVersion(transaction, flow, version)], next_cursor: null };
    }
    const { assets: flows, nextCursor } = await listAssets(transaction, 'flow', filters, page);
    return { data: await toListed(transaction, flows), next_cursor: nextCursor };
  });

const toListed = async (transaction: Transaction, flows: readonly FlowSummary[]): Promise<ListedFlow[]> => {
  const origins = await findOriginRules(
    transaction,
    flows.map(({ id }) => id),
  );
  return flows.map((flow) => {
    const origin = origins.get(flow.id);
    return toShown(ListedFlow, {
      ...listedMembers(flow),
      noNodes: flow.rowCount,
      ...(origin === undefined ? {} : { originRule: origin }),
    });
  });
};

const toListedVersion = async (transaction: Transaction, flow: FlowSummary, selector: string): Promise<ListedFlow> => {
  const { slug, publishedVersion } = flow;
  if (publishedVersion === null) throw assetNotPublished('flow', slug);
  const [[resolved], [listed]] = [
    await resolveAssets(transaction, [{ kind: 'flow', slug, selector }]),
    await toListed(transaction, [flow]),
  ];
  if (resolved === undefined || listed === undefined) throw versionNotFound('flow', slug, selector);
  return { ...listed, version: resolved.version, request_schema: toListedFields(resolved.requestSchema) };
};

/** A stored flow as its export shows it. */
export const toFlowDocument = (flow: AssetRecord<'flow'>): FlowDocument =>
  toShown(FlowDocument, {
    ...{ ...flow, ...flow.graph },
    published: flow.publishedVersion !== null,
    version: flow.publishedVersion,
  });
