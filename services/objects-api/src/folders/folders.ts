import { accessOf } from '@decision/infrastructure';
import {
  deleteFolder,
  type Folder,
  folderFields,
  listFolders,
  ServiceError,
  toAnswer,
  upsertFolder,
  type UpsertFolderRequest,
} from '@decision/contracts';
import {
  type Database,
  deleteFolder as deleteStoredFolder,
  listFolders as listStoredFolders,
  saveFolder as saveStoredFolder,
  type WorkspaceAccess,
} from '@decision/persistence';
import { bindOperation, type BoundOperation } from '@decision/service-kit';

/** Dependencies of the calls on folders. */
interface FolderContext {
  readonly database: Database;
}

/** The calls under /api/v1/admin/folders. */
export const folderRoutes = (context: FolderContext): readonly BoundOperation[] => [
  bindOperation(listFolders, async ({ identity, query }) => {
    const filters = { name: query.name, userGroup: query.user_group };
    const folders = await context.database.inWorkspace(accessOf(identity), (transaction) =>
      listStoredFolders(transaction, filters),
    );
    return folders.map((folder) => toAnswer(folderFields, folder));
  }),
  bindOperation(upsertFolder, ({ identity, body }) => saveFolder(context, accessOf(identity), body)),
  bindOperation(deleteFolder, ({ identity, body }) => removeFolder(context, accessOf(identity), body.id)),
];

/** Creates or changes a folder. Throws `folder_name_taken`. */
const saveFolder = async (
  { database }: FolderContext,
  access: WorkspaceAccess,
  request: UpsertFolderRequest,
): Promise<Folder> => {
  const outcome = await database.inWorkspace(access, (transaction) =>
    saveStoredFolder(transaction, { ...request, newUserGroups: access.userGroups ?? [] }),
  );
  if (outcome.status === 'saved') return toAnswer(folderFields, outcome.folder);
  throw new ServiceError(
    'folder_name_taken',
    `Another folder of this type, perhaps one that this key does not see, has the name "${request.name}"; choose another.`,
    { name: request.name },
  );
};

/** Deletes a folder and answers it. Throws `folder_not_found`. */
const removeFolder = async ({ database }: FolderContext, access: WorkspaceAccess, id: string): Promise<Folder> => {
  const folder = await database.inWorkspace(access, (transaction) => deleteStoredFolder(transaction, id));
  if (folder !== undefined) return toAnswer(folderFields, folder);
  throw new ServiceError('folder_not_found', `No folder with the id ${id} is visible to this key.`, { id });
};
