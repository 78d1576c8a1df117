import {
  deleteFolder as deleteFolderOperation,
  listFolders as listFoldersOperation,
  upsertFolder as upsertFolderOperation,
} from '@decision/contracts';
import { listFolders } from '@decision/persistence';
import { bindOperation, type BoundOperation } from '@decision/service-kit';
import { accessOf } from '../access';
import { deleteFolder, type FolderContext, toFolder, upsertFolder } from '../folders/folders';

/** The calls under /api/v1/admin/folders. */
export const folderRoutes = (context: FolderContext): readonly BoundOperation[] => [
  bindOperation(listFoldersOperation, async ({ identity, query }) => {
    const filters = { name: query.name, userGroup: query.user_group };
    const folders = await context.database.inWorkspace(accessOf(identity), (transaction) =>
      listFolders(transaction, filters),
    );
    return folders.map(toFolder);
  }),
  bindOperation(upsertFolderOperation, ({ identity, body }) => upsertFolder(context, accessOf(identity), body)),
  bindOperation(deleteFolderOperation, ({ identity, body }) => deleteFolder(context, accessOf(identity), body.id)),
];
