import { query, type Transaction } from '../connection/query';
import { folderColumns, type FolderRecord, type FolderRow, toFolderRecord } from './folder-record';

interface FolderFilters {
  readonly name?: string | undefined;
  readonly userGroup?: string | undefined;
}

/** Folders that a workspace may list at most. */
const MAX_FOLDERS = 10_000;

const LIST = /* sql */ `
  select ${folderColumns} from folders
  where (cast(:name as text) is null or name = :name)
    and (cast(:user_group as text) is null or cast(:user_group as text) = any (user_groups))
  order by name, id
  limit ${MAX_FOLDERS}`;

/** The folders that are visible, by name; 10,000 at most. */
export const listFolders = async (
  transaction: Transaction,
  { name, userGroup }: FolderFilters,
): Promise<readonly FolderRecord[]> => {
  const rows = await query<FolderRow>(transaction, LIST, { name: name ?? null, user_group: userGroup ?? null });
  return rows.map(toFolderRecord);
};
