import { type DeletedObject, type WorkspaceObject } from '@decision/contracts';
import {
  deleteObject as deleteStoredObject,
  findObject,
  listObjects as listStoredObjects,
  type ObjectRecord,
  type Transaction,
  type ValueFate,
  type WorkspaceAccess,
} from '@decision/persistence';
import { type AnnouncingContext, changeAndAnnounce } from '../announcing';
import { type PageQuery } from '../page-query';
import { staleValues } from '../values/stale-values';
import { toWorkspaceObject } from './object-answers';
import { objectNotFound } from './object-errors';

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

/** Deletes an object; what becomes of its values is told with counts that add up. Throws `object_not_found`. */
export const deleteObject = async (
  context: AnnouncingContext,
  access: WorkspaceAccess,
  idOrName: string,
  fate: ValueFate,
): Promise<DeletedObject> => {
  const { name, detached, archived } = await changeAndAnnounce(context, access, async (transaction, owe) => {
    const outcome = await deleteStoredObject(transaction, (await requireObject(transaction, idOrName)).id, fate);
    if (outcome.status === 'not_found') throw objectNotFound(idOrName);
    owe(staleValues(access));
    return outcome;
  });
  const what = fate === 'detach' ? 'its active values are ordinary values now' : 'its values were archived';
  return {
    message: `Object "${name}" was deleted; ${what}.`,
    values: { total: detached + archived, deleted: 0, detached, archived },
  };
};

/** By id first: a name that reads like the id of another object does not hide it. */
const requireObject = async (transaction: Transaction, idOrName: string): Promise<ObjectRecord> => {
  const object =
    (await findObject(transaction, { id: idOrName })) ??
    (await findObject(transaction, { name: idOrName.normalize('NFC') }));
  if (object === undefined) throw objectNotFound(idOrName);
  return object;
};
