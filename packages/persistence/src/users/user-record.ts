import { type Change } from '../audit/change';

/** Somebody who works in the workspace. Times are ISO 8601 UTC with milliseconds. */
export interface UserRecord {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  readonly role: string;
  /** Empty: not restricted, and hidden from an access that is. */
  readonly userGroups: readonly string[];
  readonly createdAt: string;
}

export interface UserRow {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  readonly role: string;
  readonly user_groups: string[];
  readonly created_at: Date;
}

/** Select list of a {@link UserRow}: what the runtime role may read. */
export const userColumns = ['id', 'email', 'name', 'role', 'user_groups', 'created_at']
  .map((column) => `users.${column}`)
  .join(', ');

export const toUserRecord = (row: UserRow): UserRecord => ({
  id: row.id,
  email: row.email,
  name: row.name,
  role: row.role,
  userGroups: row.user_groups,
  createdAt: row.created_at.toISOString(),
});

/** A change of a user for the audit. */
export const changeOfUser = (action: string, before?: UserRecord, after?: UserRecord): Change => {
  const { id, email: name, userGroups } = after ?? before ?? { id: '', email: '', userGroups: [] };
  return { kind: 'user', action, id, name, userGroups, before, after };
};
