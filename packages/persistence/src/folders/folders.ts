import { changedNow } from '../connection/changed-now';
import { type Change } from '../audit/change';
import { recordChange } from '../audit/record-change';
import { asWorkspace } from '../connection/access';
import { query, type Transaction } from '../connection/query';
import { writeUnlessTaken } from '../connection/unique-violation';
import { isUuid } from '../connection/uuid';
import { folderFields, type FolderRecord } from '@decision/contracts';
import { type DescribedRow, describeTable } from '../resources/described-table';

const { columns, toRecord } = describeTable('folders', folderFields);

/** A change of a folder for the audit. */
const changeOfFolder = (action: string, before?: FolderRecord, after?: FolderRecord): Change => {
  const { id, name, userGroups } = after ?? before ?? { id: '', name: '', userGroups: [] };
  return { kind: 'folder', action, id, name, userGroups, before, after };
};

interface FolderFilters {
  readonly name?: string | undefined;
  readonly userGroup?: string | undefined;
}

/** Folders that a workspace may list at most. */
const MAX_FOLDERS = 10_000;

const LIST = /* sql */ `
  select ${columns} from folders
  where (cast(:name as text) is null or name = :name)
    and (cast(:user_group as text) is null or cast(:user_group as text) = any (user_groups))
  order by name, id
  limit ${MAX_FOLDERS}`;

/** The folders that are visible, by name; 10,000 at most. */
export const listFolders = async (
  transaction: Transaction,
  { name, userGroup }: FolderFilters,
): Promise<readonly FolderRecord[]> => {
  const rows = await query<DescribedRow>(transaction, LIST, { name: name ?? null, user_group: userGroup ?? null });
  return rows.map(toRecord);
};

/** A folder as it is to be; absent parts of one that exists stay as they are. */
interface SavedFolder {
  /** A UUID: the folder of this id is changed, or made under it. Without one the folder of this name and type is. */
  readonly id?: string | undefined;
  readonly name: string;
  readonly description?: string | null | undefined;
  /** `rule`, `flow` or `context`; a new folder is one of rules where it is not given. */
  readonly type?: string | undefined;
  /** Groups of a new folder. A restricted access must name groups of its own, at least one. */
  readonly newUserGroups: readonly string[];
}

type SaveFolderOutcome =
  | { readonly status: 'saved'; readonly folder: FolderRecord }
  /** Another folder of the type, perhaps a hidden one, has the name. */
  | { readonly status: 'name_taken' };

const LOCK = /* sql */ `
  select ${columns} from folders
  where case when cast(:id as uuid) is null then name = :name and type = :type else id = cast(:id as uuid) end
  for update`;

const UPDATE = /* sql */ `
  update folders
  set name = :name, description = case when :describes then :description else description end,
    type = coalesce(cast(:given_type as text), type),
    ${changedNow()}
  where id = cast(:id as uuid)
  returning ${columns}`;

const INSERT = /* sql */ `
  insert into folders (id, name, description, type, user_groups)
  values (coalesce(cast(:id as uuid), gen_random_uuid()), :name, :description, :type, cast(:user_groups as text[]))
  returning ${columns}`;

/** Makes or changes a folder. Throws `forbidden` where a restricted access names groups that it does not have, or none. */
export const saveFolder = async (transaction: Transaction, folder: SavedFolder): Promise<SaveFolderOutcome> => {
  const { id, name, description, type, newUserGroups } = folder;
  const parts = { name, description: description ?? null, type: type ?? 'rule' };
  const wanted = id !== undefined && isUuid(id) ? id : null;
  const [locked] = await query<DescribedRow>(transaction, LOCK, { id: wanted, name, type: parts.type });
  const before = locked && toRecord(locked);
  const writing = await writeUnlessTaken(transaction, (savepoint) =>
    before
      ? query<DescribedRow>(savepoint, UPDATE, {
          id: before.id,
          name,
          description: parts.description,
          describes: description !== undefined,
          given_type: type ?? null,
        })
      : query<DescribedRow>(savepoint, INSERT, { ...parts, id: wanted, user_groups: newUserGroups }),
  );
  const [row] = writing.status === 'taken' ? [] : writing.value;
  if (row === undefined) return { status: 'name_taken' };
  const saved = toRecord(row);
  await recordChange(transaction, changeOfFolder(before ? 'update' : 'create', before, saved));
  return { status: 'saved', folder: saved };
};

const DELETE = /* sql */ `delete from folders where id = cast(:id as uuid) returning ${columns}`;

/** An asset names its folder in its own document. */
const LEAVE = /* sql */ `update assets set folder = 'null' where folder ->> 'id' = :id`;

/** Deletes a folder and answers it; what lay in it, hidden assets too, stays in no folder. Undefined where none is visible. */
export const deleteFolder = async (transaction: Transaction, id: string): Promise<FolderRecord | undefined> => {
  if (!isUuid(id)) return undefined;
  const [row] = await query<DescribedRow>(transaction, DELETE, { id });
  if (row === undefined) return undefined;
  const folder = toRecord(row);
  await asWorkspace(transaction, () => query(transaction, LEAVE, { id: folder.id }));
  await recordChange(transaction, changeOfFolder('delete', folder));
  return folder;
};
