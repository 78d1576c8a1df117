import { type Change } from '../audit/change';

/** A folder. Times are ISO 8601 UTC with milliseconds. */
export interface FolderRecord {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly type: string;
  /** Empty: an access that is restricted to groups does not see it. */
  readonly userGroups: readonly string[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface FolderRow {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly type: string;
  readonly user_groups: string[];
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Select list of a {@link FolderRow}. */
export const folderColumns = 'id, name, description, type, user_groups, created_at, updated_at';

export const toFolderRecord = (row: FolderRow): FolderRecord => ({
  id: row.id,
  name: row.name,
  description: row.description,
  type: row.type,
  userGroups: row.user_groups,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

/** A change of a folder for the audit. */
export const changeOfFolder = (action: string, before?: FolderRecord, after?: FolderRecord): Change => {
  const { id, name, userGroups } = after ?? before ?? { id: '', name: '', userGroups: [] };
  return { kind: 'folder', action, id, name, userGroups, before, after };
};
