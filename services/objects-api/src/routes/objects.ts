import {
  deleteObject as deleteObjectOperation,
  getObject as getObjectOperation,
  listObjects as listObjectsOperation,
  upsertObject,
} from '@decision/contracts';
import { bindOperation, type BoundOperation } from '@decision/service-kit';
import { accessOf } from '../access';
import { type AnnouncingContext } from '../announcing';
import { deleteObject, getObject, listObjects } from '../objects/objects';
import { saveObject } from '../objects/save-object';
import { readPageQuery } from '../page-query';

/** The calls under /api/v1/objects. */
export const objectRoutes = (context: AnnouncingContext): readonly BoundOperation[] => [
  bindOperation(listObjectsOperation, async ({ identity, query }) => {
    const paged = query.limit !== undefined || query.cursor !== undefined;
    const listed = await listObjects(context, accessOf(identity), paged ? readPageQuery(query) : undefined);
    return paged ? listed : listed.data;
  }),
  bindOperation(upsertObject, ({ identity, body }) => saveObject(context, accessOf(identity), body)),
  bindOperation(getObjectOperation, ({ identity, params }) =>
    getObject(context, accessOf(identity), params['idOrName'] ?? ''),
  ),
  bindOperation(deleteObjectOperation, ({ identity, params, query }) =>
    deleteObject(context, accessOf(identity), params['idOrName'] ?? '', query.values ?? 'archive'),
  ),
];
