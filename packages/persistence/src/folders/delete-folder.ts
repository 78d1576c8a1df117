import { recordChange } from '../audit/record-change';
import { asWorkspace } from '../connection/as-workspace';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { changeOfFolder, folderColumns, type FolderRecord, type FolderRow, toFolderRecord } from './folder-record';

const DELETE = /* sql */ `delete from folders where id = cast(:id as uuid) returning ${folderColumns}`;

/** A rule names its folder in its own document. */
const LEAVE = /* sql */ `update rules set folder = 'null' where folder ->> 'id' = :id`;

/** Deletes a folder and answers it; what lay in it, hidden rules too, stays in no folder. Undefined where none is visible. */
export const deleteFolder = async (transaction: Transaction, id: string): Promise<FolderRecord | undefined> => {
  if (!isUuid(id)) return undefined;
  const [row] = await query<FolderRow>(transaction, DELETE, { id });
  if (row === undefined) return undefined;
  await asWorkspace(transaction, () => query(transaction, LEAVE, { id: row.id }));
  const folder = toFolderRecord(row);
  await recordChange(transaction, changeOfFolder('delete', folder));
  return folder;
};
