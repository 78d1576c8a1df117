import { type Change } from '../audit/change';
import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { writeUnlessTaken } from '../connection/unique-violation';
import { isUuid } from '../connection/uuid';
import { userFields, type UserRecord } from '@decision/contracts';
import { type DescribedRow, describeTable } from '../resources/described-table';

const { columns, toRecord } = describeTable('users', userFields);

/** A change of a user for the audit. */
const changeOfUser = (action: string, before?: UserRecord, after?: UserRecord): Change => {
  const { id, email: name, userGroups } = after ?? before ?? { id: '', email: '', userGroups: [] };
  return { kind: 'user', action, id, name, userGroups, before, after };
};

/** A user as lists show it. */
export interface ListedUser extends UserRecord {
  /** Public part of the newest live key of the user; null if there is none. */
  readonly selector: string | null;
  /** Sessions that the person has started since the user was created. */
  readonly sessions: number;
  /** Last sign-in of the person, ISO 8601 UTC; null: never. */
  readonly lastSessionAt: string | null;
}

/** Largest number of listed users. */
const MAX_USERS = 10_000;

const LIST = /* sql */ `
  select ${columns}, newest.selector, usage.sessions, usage.last_session_at
  from users
  left join user_usage as usage on usage.workspace_id = users.workspace_id and usage.user_id = users.id
  left join lateral (
    select selector from api_keys
    where api_keys.user_id = users.id and revoked_at is null and (expires_at is null or expires_at > clock_timestamp())
    order by api_keys.created_at desc, api_keys.id desc
    limit 1
  ) as newest on true
  order by users.created_at desc, users.id desc
  limit ${MAX_USERS}`;

interface ListedRow extends DescribedRow {
  readonly selector: string | null;
  /** A bigint, which the driver answers as text. */
  readonly sessions: string | null;
  readonly last_session_at: Date | null;
}

/** The visible users, newest first; 10,000 at most. */
export const listUsers = async (transaction: Transaction): Promise<readonly ListedUser[]> => {
  const rows = await query<ListedRow>(transaction, LIST);
  return rows.map((row) => ({
    ...{ ...toRecord(row), selector: row.selector },
    sessions: Number(row.sessions ?? 0),
    lastSessionAt: row.last_session_at?.toISOString() ?? null,
  }));
};

export interface NewUser {
  readonly email: string;
  readonly name: string | null;
  /** A role of the workspace. */
  readonly role: string;
  /** A restricted access must name some of its own groups, at least one. */
  readonly userGroups: readonly string[];
  /** Whether the person sees everything when signed in; then it has no groups. Only an unrestricted access may set it. Default false. */
  readonly allGroups?: boolean | undefined;
  /** Output of the password hasher; stored, and never read by the runtime role. Null: the user has a key that waits for its first rotation. */
  readonly passwordHash: string | null;
}

type CreateUserOutcome =
  | { readonly status: 'created'; readonly user: UserRecord }
  /** Another user of the workspace, perhaps a hidden one, has the address, ignoring case. */
  | { readonly status: 'email_taken' };

const INSERT = /* sql */ `
  insert into users (email, name, role, user_groups, all_groups, password_hash, parent_id)
  values (:email, :name, :role, cast(:user_groups as text[]), :all_groups, :password_hash, app_admin_id())
  returning ${columns}`;

/** Stores a user. Throws `forbidden` if a restricted access names groups that it does not have, or none. */
export const createUser = async (
  transaction: Transaction,
  { email, name, role, userGroups, allGroups = false, passwordHash }: NewUser,
): Promise<CreateUserOutcome> => {
  const bindings = { email, name, role, user_groups: userGroups, all_groups: allGroups, password_hash: passwordHash };
  const writing = await writeUnlessTaken(transaction, (savepoint) => query<DescribedRow>(savepoint, INSERT, bindings));
  const [row] = writing.status === 'taken' ? [] : writing.value;
  if (row === undefined) return { status: 'email_taken' };
  const user = toRecord(row);
  await recordChange(transaction, changeOfUser('create', undefined, user));
  return { status: 'created', user };
};

/** Changes; absent parts stay unchanged. */
interface UserChanges {
  readonly name?: string | null | undefined;
  readonly role?: string | undefined;
  readonly userGroups?: readonly string[] | undefined;
  /** True removes the groups; setting groups for a user who sees everything removes this right. Only an unrestricted access may set it. */
  readonly allGroups?: boolean | undefined;
  /** Whether the user can neither sign in nor use its keys. */
  readonly disabled?: boolean | undefined;
}

/** A user with the selectors of the keys that changed with it, whose cache entries are stale. */
interface ChangedUser {
  readonly user: UserRecord;
  readonly selectors: readonly string[];
}

const LOCK = /* sql */ `select ${columns} from users where id = cast(:id as uuid) for update`;

const UPDATE = /* sql */ `
  update users
  set name = case when :names then :name else name end, role = coalesce(cast(:role as text), role),
    user_groups = coalesce(cast(:user_groups as text[]), user_groups),
    all_groups = coalesce(cast(:all_groups as boolean), all_groups),
    disabled_at = case when cast(:disabled as boolean) then coalesce(disabled_at, clock_timestamp())
      when not cast(:disabled as boolean) then null else disabled_at end
  where id = cast(:id as uuid)
  returning ${columns}`;

const UPDATE_KEYS = /* sql */ `select selector from follow_user(cast(:id as uuid))`;

const REVOKE_KEYS = /* sql */ `
  update api_keys set revoked_at = clock_timestamp()
  where user_id = cast(:id as uuid) and revoked_at is null
  returning selector`;

const DELETE = /* sql */ `delete from users where id = cast(:id as uuid)`;

interface SelectorRow {
  readonly selector: string;
}

/**
 * Changes a user, and its live keys with it. Undefined if none is visible. Throws `forbidden` as {@link createUser} does, and for changes
 * that are not allowed for the administrator of the workspace.
 */
export const updateUser = async (
  transaction: Transaction,
  id: string,
  { name, role, userGroups, allGroups, disabled }: UserChanges,
): Promise<ChangedUser | undefined> => {
  const locked = await lockUser(transaction, id);
  if (locked === undefined) return undefined;
  const [row] = await query<DescribedRow>(transaction, UPDATE, {
    id,
    names: name !== undefined,
    name: name ?? null,
    role: role ?? null,
    user_groups: userGroups ?? null,
    all_groups: allGroups ?? null,
    disabled: disabled ?? null,
  });
  if (row === undefined) return undefined;
  const user = toRecord(row);
  const keys = await query<SelectorRow>(transaction, UPDATE_KEYS, { id });
  await recordChange(transaction, changeOfUser('update', locked, user));
  return { user, selectors: keys.map(({ selector }) => selector) };
};

/** Deletes a user and revokes its keys. Undefined if none is visible. */
export const deleteUser = async (transaction: Transaction, id: string): Promise<ChangedUser | undefined> => {
  const user = await lockUser(transaction, id);
  if (user === undefined) return undefined;
  const keys = await query<SelectorRow>(transaction, REVOKE_KEYS, { id });
  await query(transaction, DELETE, { id });
  await recordChange(transaction, changeOfUser('delete', user));
  return { user, selectors: keys.map(({ selector }) => selector) };
};

const lockUser = async (transaction: Transaction, id: string): Promise<UserRecord | undefined> => {
  const [row] = isUuid(id) ? await query<DescribedRow>(transaction, LOCK, { id }) : [];
  return row && toRecord(row);
};
