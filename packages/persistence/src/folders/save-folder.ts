import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { writeUnlessTaken } from '../connection/unique-violation';
import { isUuid } from '../connection/uuid';
import { changeOfFolder, folderColumns, type FolderRecord, type FolderRow, toFolderRecord } from './folder-record';

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
  select ${folderColumns} from folders
  where case when cast(:id as uuid) is null then name = :name and type = :type else id = cast(:id as uuid) end
  for update`;

const UPDATE = /* sql */ `
  update folders
  set name = :name, description = case when :describes then :description else description end,
    type = coalesce(cast(:given_type as text), type),
    updated_at = greatest(clock_timestamp(), updated_at + interval '1 millisecond')
  where id = cast(:id as uuid)
  returning ${folderColumns}`;

const INSERT = /* sql */ `
  insert into folders (id, name, description, type, user_groups)
  values (coalesce(cast(:id as uuid), gen_random_uuid()), :name, :description, :type, cast(:user_groups as text[]))
  returning ${folderColumns}`;

/** Makes or changes a folder. Throws `forbidden` where a restricted access names groups that it does not have, or none. */
export const saveFolder = async (transaction: Transaction, folder: SavedFolder): Promise<SaveFolderOutcome> => {
  const { id, name, description, type, newUserGroups } = folder;
  const parts = { name, description: description ?? null, type: type ?? 'rule' };
  const wanted = id !== undefined && isUuid(id) ? id : null;
  const [locked] = await query<FolderRow>(transaction, LOCK, { id: wanted, name, type: parts.type });
  const writing = await writeUnlessTaken(transaction, (savepoint) =>
    locked
      ? query<FolderRow>(savepoint, UPDATE, {
          id: locked.id,
          name,
          description: parts.description,
          describes: description !== undefined,
          given_type: type ?? null,
        })
      : query<FolderRow>(savepoint, INSERT, { ...parts, id: wanted, user_groups: newUserGroups }),
  );
  const [row] = writing.status === 'taken' ? [] : writing.value;
  if (row === undefined) return { status: 'name_taken' };
  const saved = toFolderRecord(row);
  const before = locked && toFolderRecord(locked);
  await recordChange(transaction, changeOfFolder(before ? 'update' : 'create', before, saved));
  return { status: 'saved', folder: saved };
};
