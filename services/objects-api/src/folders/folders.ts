import { type Folder, type FolderType, ServiceError, type UpsertFolderRequest } from '@decision/contracts';
import {
  type Database,
  deleteFolder as deleteStoredFolder,
  type FolderRecord,
  saveFolder,
  type WorkspaceAccess,
} from '@decision/persistence';

/** Dependencies of the calls on folders. */
export interface FolderContext {
  readonly database: Database;
}

/** Makes or changes a folder. Throws `folder_name_taken`. */
export const upsertFolder = async (
  { database }: FolderContext,
  access: WorkspaceAccess,
  request: UpsertFolderRequest,
): Promise<Folder> => {
  const outcome = await database.inWorkspace(access, (transaction) =>
    saveFolder(transaction, { ...request, newUserGroups: access.userGroups ?? [] }),
  );
  if (outcome.status === 'saved') return toFolder(outcome.folder);
  throw new ServiceError(
    'folder_name_taken',
    `Another folder of this type, perhaps one that this key does not see, has the name "${request.name}"; choose another.`,
    { name: request.name },
  );
};

/** Deletes a folder and answers it. Throws `folder_not_found`. */
export const deleteFolder = async (
  { database }: FolderContext,
  access: WorkspaceAccess,
  id: string,
): Promise<Folder> => {
  const folder = await database.inWorkspace(access, (transaction) => deleteStoredFolder(transaction, id));
  if (folder !== undefined) return toFolder(folder);
  throw new ServiceError('folder_not_found', `No folder with the id ${id} is visible to this key.`, { id });
};

export const toFolder = (folder: FolderRecord): Folder => ({
  id: folder.id,
  name: folder.name,
  description: folder.description,
  type: folder.type as FolderType, // the table holds no other
  user_groups: [...folder.userGroups],
  created_at: folder.createdAt,
  updated_at: folder.updatedAt,
});
