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

/** Largest number of folders that a workspace may list. */
const MAX_FOLDERS = 10_000;

const LIST = /* sql */ `
  select ${columns} from folders
  where (cast(:name as text) is null or name = :name)
    and (cast(:user_group as text) is null or cast(:user_group as text) = any (user_groups))
  order by name, id
  limit ${MAX_FOLDERS}`;

/** The visible folders, by name; 10,000 at most. */
export const listFolders = async (
  transaction: Transaction,
  { name, userGroup }: FolderFilters,
): Promise<readonly FolderRecord[]> => {
  const rows = await query<DescribedRow>(transaction, LIST, { name: name ?? null, user_group: userGroup ?? null });
  return rows.map(toRecord);
};

/** The desired state of a folder; absent parts of an existing one stay unchanged. */
interface SavedFolder {
  /** A UUID: the folder of this id is changed, or created with it. Without an id, the folder of this name and type is. */
  readonly id?: string | undefined;
  readonly name: string;
  readonly description?: string | null | undefined;
  /** `rule`, `flow` or `context`; default for a new folder: `rule`. */
  readonly type?: string | undefined;
  /** Groups of a new folder. A restricted access must name some of its own groups, at least one. */
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

/** Creates or changes a folder. Throws `forbidden` if a restricted access names groups that it does not have, or none. */
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

/** The document of an asset names its folder. */
const LEAVE = /* sql */ `update assets set folder = 'null' where folder ->> 'id' = :id`;

/** Deletes a folder and answers it; its assets, including hidden ones, are in no folder afterwards. Undefined if none is visible. */
export const deleteFolder = async (transaction: Transaction, id: string): Promise<FolderRecord | undefined> => {
  if (!isUuid(id)) return undefined;
  const [row] = await query<DescribedRow>(transaction, DELETE, { id });
  if (row === undefined) return undefined;
  const folder = toRecord(row);
  await asWorkspace(transaction, () => query(transaction, LEAVE, { id: folder.id }));
  await recordChange(transaction, changeOfFolder('delete', folder));
  return folder;
};
