import {
  type DeletedObject,
  deleteObject as deleteObjectOperation,
  getObject as getObjectOperation,
  listObjects as listObjectsOperation,
  type ObjectRecord,
  upsertObject,
  type WorkspaceObject,
} from '@decision/contracts';
import { accessOf } from '@decision/infrastructure';
import {
  deleteObject as deleteStoredObject,
  findObject,
  listObjects as listStoredObjects,
  type Transaction,
  type ValueFate,
  type WorkspaceAccess,
} from '@decision/persistence';
import { bindOperation, type BoundOperation, type PageQuery, readPageQuery } from '@decision/service-kit';
import { type AnnouncingContext, changeAndAnnounce } from '../announcements';
import { staleValues } from '../values/value-answers';
import { objectNotFound, toWorkspaceObject } from './object-answers';
import { saveObject } from './save-object';

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

interface ListedObjects {
  readonly data: WorkspaceObject[];
  readonly next_cursor: string | null;
}

export const listObjects = ({ database }: AnnouncingContext, access: WorkspaceAccess, page: PageQuery | undefined) =>
  database.inWorkspace(access, async (transaction): Promise<ListedObjects> => {
    const { objects, nextCursor } = await listStoredObjects(transaction, page);
    return { data: objects.map(toWorkspaceObject), next_cursor: nextCursor };
  });

/** Throws `object_not_found`. */
export const getObject = (
  { database }: AnnouncingContext,
  access: WorkspaceAccess,
  idOrName: string,
): Promise<WorkspaceObject> =>
  database.inWorkspace(access, async (transaction) => toWorkspaceObject(await requireObject(transaction, idOrName)));

/** Deletes an object, and answers counts of how its values were treated, which add up. Throws `object_not_found`. */
export const deleteObject = async (
  context: AnnouncingContext,
  access: WorkspaceAccess,
  idOrName: string,
  fate: ValueFate,
): Promise<DeletedObject> => {
  const { name, detached, archived } = await changeAndAnnounce(context, access, async (transaction, announceLater) => {
    const outcome = await deleteStoredObject(transaction, (await requireObject(transaction, idOrName)).id, fate);
    if (outcome.status === 'not_found') throw objectNotFound(idOrName);
    announceLater(staleValues(access));
    return outcome;
  });
  const what = fate === 'detach' ? 'its active values are ordinary values now' : 'its values were archived';
  return {
    message: `Object "${name}" was deleted; ${what}.`,
    values: { total: detached + archived, deleted: 0, detached, archived },
  };
};

/** Looks up by id first: a name that reads like the id of another object does not hide it. */
const requireObject = async (transaction: Transaction, idOrName: string): Promise<ObjectRecord> => {
  const object =
    (await findObject(transaction, { id: idOrName })) ??
    (await findObject(transaction, { name: idOrName.normalize('NFC') }));
  if (object === undefined) throw objectNotFound(idOrName);
  return object;
};
