import { accessOf } from '@decision/infrastructure';
import {
  createContextOperation,
  createRelationshipOperation,
  deleteContextOperation,
  deleteRelationshipOperation,
  getContextOperation,
  listContextsOperation,
  listRelationshipsOperation,
  updateContextOperation,
} from '@decision/contracts';
import { type DefinitionsContext, type InstancesContext } from '@decision/operations';
import { bindOperation, type BoundOperation, readPageQuery } from '@decision/service-kit';
import { getContext, listContexts, listRelationships } from '../definitions/read-contexts';
import { createRelationship, deleteContext, deleteRelationship } from '../definitions/relate-contexts';
import { createContext, updateContext } from '../definitions/save-context';

type Params = Readonly<Record<string, string>>;
const idOf = (params: Params): string => params['id'] ?? '';

/** The calls under /api/v1/admin/contexts. */
export const definitionRoutes = (
  context: DefinitionsContext & Pick<InstancesContext, 'timeoutMs'>,
): readonly BoundOperation[] => [
  bindOperation(listContextsOperation, async ({ identity, query }) => {
    const { name, folder, user_group: userGroup } = query;
    const isPaged = query.limit !== undefined || query.cursor !== undefined;
    const page = isPaged ? readPageQuery(query) : undefined;
    const listed = await listContexts(context, accessOf(identity), { name, folder, userGroup }, page);
    return isPaged ? { ...listed, cursor: listed.next_cursor } : listed.data;
  }),
  bindOperation(createContextOperation, ({ identity, body }) => createContext(context, accessOf(identity), body)),
  bindOperation(getContextOperation, ({ identity, params }) => getContext(context, accessOf(identity), idOf(params))),
  bindOperation(updateContextOperation, ({ identity, params, body }) =>
    updateContext(context, accessOf(identity), idOf(params), body),
  ),
  bindOperation(deleteContextOperation, ({ identity, params }) =>
    deleteContext(context, accessOf(identity), idOf(params)),
  ),
  bindOperation(listRelationshipsOperation, ({ identity, params }) =>
    listRelationships(context, accessOf(identity), idOf(params)),
  ),
  bindOperation(createRelationshipOperation, ({ identity, params, body, context: { receivedAt } }) =>
    createRelationship(context, accessOf(identity), idOf(params), {
      ...body,
      deadline: receivedAt + context.timeoutMs,
    }),
  ),
  bindOperation(deleteRelationshipOperation, ({ identity, params }) =>
    deleteRelationship(context, accessOf(identity), idOf(params), params['relationship'] ?? ''),
  ),
];
