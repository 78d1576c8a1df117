import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { writeUnlessTaken } from '../connection/unique-violation';
import { type GivenOf, userGroupFields, type UserGroupRecord } from '@decision/contracts';
import { type DescribedRow, describeTable } from '../resources/described-table';

const { columns, givenColumns, givenValues, bindGiven, toRecord } = describeTable('user_groups', userGroupFields);

/** Largest number of listed groups. */
const MAX_GROUPS = 10_000;

const LIST = /* sql */ `
  select ${columns} from user_groups order by name, id limit ${MAX_GROUPS}`;
const UNKNOWN = /* sql */ `
  select name from unnest(cast(:names as text[])) as given (name)
  where not exists (select from user_groups where user_groups.name = given.name)`;
const INSERT = /* sql */ `
  insert into user_groups (${givenColumns}) values (${givenValues})
  returning ${columns}`;

/** The visible groups, by name; a restricted access sees its own. 10,000 at most. */
export const listUserGroups = async (transaction: Transaction): Promise<readonly UserGroupRecord[]> =>
  (await query<DescribedRow>(transaction, LIST)).map(toRecord);

/** The names, among these, that no visible group has. */
export const findUnknownGroups = async (
  transaction: Transaction,
  names: readonly string[],
): Promise<readonly string[]> =>
  (await query<{ name: string }>(transaction, UNKNOWN, { names })).map(({ name }) => name);

type CreateUserGroupOutcome =
  { readonly status: 'created'; readonly group: UserGroupRecord } | { readonly status: 'name_taken' };

/** Creates a group. Throws `forbidden` for a restricted access, unless it is restricted to a group of that name. */
export const createUserGroup = async (
  transaction: Transaction,
  given: GivenOf<typeof userGroupFields>,
): Promise<CreateUserGroupOutcome> => {
  const writing = await writeUnlessTaken(transaction, (savepoint) =>
    query<DescribedRow>(savepoint, INSERT, bindGiven(given)),
  );
  const [row] = writing.status === 'taken' ? [] : writing.value;
  if (row === undefined) return { status: 'name_taken' };
  const group = toRecord(row);
  const { id, name } = group;
  await recordChange(transaction, { kind: 'user_group', action: 'create', id, name, userGroups: [name], after: group });
  return { status: 'created', group };
};
