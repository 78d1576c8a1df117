import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { writeUnlessTaken } from '../connection/unique-violation';
import { changeOfUser, toUserRecord, userColumns, type UserRecord, type UserRow } from './user-record';

export interface NewUser {
  readonly email: string;
  readonly name: string | null;
  /** A role of the workspace. */
  readonly role: string;
  /** A restricted access must name groups of its own, at least one. */
  readonly userGroups: readonly string[];
  /** As the hasher of passwords writes it; stored, and never read by the runtime role. */
  readonly passwordHash: string;
}

type CreateUserOutcome =
  | { readonly status: 'created'; readonly user: UserRecord }
  /** Another user of the workspace, perhaps a hidden one, has the address, in whatever case. */
  | { readonly status: 'email_taken' };

const INSERT = /* sql */ `
  insert into users (email, name, role, user_groups, password_hash)
  values (:email, :name, :role, cast(:user_groups as text[]), :password_hash)
  returning ${userColumns}`;

/** Stores a user. Throws `forbidden` where a restricted access names groups that it does not have, or none. */
export const createUser = async (
  transaction: Transaction,
  { email, name, role, userGroups, passwordHash }: NewUser,
): Promise<CreateUserOutcome> => {
  const writing = await writeUnlessTaken(transaction, (savepoint) =>
    query<UserRow>(savepoint, INSERT, { email, name, role, user_groups: userGroups, password_hash: passwordHash }),
  );
  const [row] = writing.status === 'taken' ? [] : writing.value;
  if (row === undefined) return { status: 'email_taken' };
  const user = toUserRecord(row);
  await recordChange(transaction, changeOfUser('create', undefined, user));
  return { status: 'created', user };
};
