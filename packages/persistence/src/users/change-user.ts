import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { changeOfUser, toUserRecord, userColumns, type UserRecord, type UserRow } from './user-record';

/** Changes; absent parts stay as they are. */
interface UserChanges {
  readonly name?: string | null | undefined;
  readonly role?: string | undefined;
  readonly userGroups?: readonly string[] | undefined;
}

/** A user with the selectors of the keys that changed alike: what caches know of them is stale. */
interface ChangedUser {
  readonly user: UserRecord;
  readonly selectors: readonly string[];
}

const LOCK = /* sql */ `select ${userColumns} from users where id = cast(:id as uuid) for update`;

const UPDATE = /* sql */ `
  update users
  set name = case when :names then :name else name end, role = coalesce(cast(:role as text), role),
    user_groups = coalesce(cast(:user_groups as text[]), user_groups)
  where id = cast(:id as uuid)
  returning ${userColumns}`;

const UPDATE_KEYS = /* sql */ `select selector from follow_user(cast(:id as uuid))`;

const REVOKE_KEYS = /* sql */ `
  update api_keys set revoked_at = clock_timestamp()
  where user_id = cast(:id as uuid) and revoked_at is null
  returning selector`;

const DELETE = /* sql */ `delete from users where id = cast(:id as uuid)`;

interface SelectorRow {
  readonly selector: string;
}

/** Changes a user, and its live keys with it. Undefined where none is visible. Throws `forbidden` as {@link createUser} does. */
export const updateUser = async (
  transaction: Transaction,
  id: string,
  { name, role, userGroups }: UserChanges,
): Promise<ChangedUser | undefined> => {
  const locked = await lockUser(transaction, id);
  if (locked === undefined) return undefined;
  const [row] = await query<UserRow>(transaction, UPDATE, {
    id,
    names: name !== undefined,
    name: name ?? null,
    role: role ?? null,
    user_groups: userGroups ?? null,
  });
  if (row === undefined) return undefined;
  const user = toUserRecord(row);
  const keys = await query<SelectorRow>(transaction, UPDATE_KEYS, { id });
  await recordChange(transaction, changeOfUser('update', locked, user));
  return { user, selectors: keys.map(({ selector }) => selector) };
};

/** Deletes a user and revokes its keys. Undefined where none is visible. */
export const deleteUser = async (transaction: Transaction, id: string): Promise<ChangedUser | undefined> => {
  const user = await lockUser(transaction, id);
  if (user === undefined) return undefined;
  const keys = await query<SelectorRow>(transaction, REVOKE_KEYS, { id });
  await query(transaction, DELETE, { id });
  await recordChange(transaction, changeOfUser('delete', user));
  return { user, selectors: keys.map(({ selector }) => selector) };
};

const lockUser = async (transaction: Transaction, id: string): Promise<UserRecord | undefined> => {
  const [row] = isUuid(id) ? await query<UserRow>(transaction, LOCK, { id }) : [];
  return row && toUserRecord(row);
};
