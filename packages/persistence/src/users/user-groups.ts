import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { writeUnlessTaken } from '../connection/unique-violation';

/** A group of users. */
export interface UserGroupRecord {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** ISO 8601 UTC with milliseconds. */
  readonly createdAt: string;
}

interface UserGroupRow {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly created_at: Date;
}

const toRecord = (row: UserGroupRow): UserGroupRecord => ({
  id: row.id,
  name: row.name,
  description: row.description,
  createdAt: row.created_at.toISOString(),
});

/** Groups that are listed at most. */
const MAX_GROUPS = 10_000;

const LIST = /* sql */ `
  select id, name, description, created_at from user_groups order by name, id limit ${MAX_GROUPS}`;
const UNKNOWN = /* sql */ `
  select name from unnest(cast(:names as text[])) as given (name)
  where not exists (select from user_groups where user_groups.name = given.name)`;
const INSERT = /* sql */ `
  insert into user_groups (name, description) values (:name, :description)
  returning id, name, description, created_at`;

/** The groups that are visible, by name; a restricted access sees its own. 10,000 at most. */
export const listUserGroups = async (transaction: Transaction): Promise<readonly UserGroupRecord[]> =>
  (await query<UserGroupRow>(transaction, LIST)).map(toRecord);

/** Which of these names no visible group has. */
export const findUnknownGroups = async (
  transaction: Transaction,
  names: readonly string[],
): Promise<readonly string[]> =>
  (await query<{ name: string }>(transaction, UNKNOWN, { names })).map(({ name }) => name);

type CreateUserGroupOutcome =
  { readonly status: 'created'; readonly group: UserGroupRecord } | { readonly status: 'name_taken' };

/** Makes a group. Throws `forbidden` for a restricted access, unless it is restricted to a group of that name. */
export const createUserGroup = async (
  transaction: Transaction,
  { name, description }: Pick<UserGroupRecord, 'name' | 'description'>,
): Promise<CreateUserGroupOutcome> => {
  const writing = await writeUnlessTaken(transaction, (savepoint) =>
    query<UserGroupRow>(savepoint, INSERT, { name, description }),
  );
  const [row] = writing.status === 'taken' ? [] : writing.value;
  if (row === undefined) return { status: 'name_taken' };
  const group = toRecord(row);
  const { id } = group;
  await recordChange(transaction, { kind: 'user_group', action: 'create', id, name, userGroups: [name], after: group });
  return { status: 'created', group };
};
