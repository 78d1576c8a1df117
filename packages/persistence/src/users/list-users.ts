import { query, type Transaction } from '../connection/query';
import { toUserRecord, userColumns, type UserRecord, type UserRow } from './user-record';

/** A user as lists show it. */
export interface ListedUser extends UserRecord {
  /** Public part of the newest live key of the user; null where there is none. */
  readonly selector: string | null;
}

/** Users that are listed at most. */
const MAX_USERS = 10_000;

const LIST = /* sql */ `
  select ${userColumns}, newest.selector
  from users
  left join lateral (
    select selector from api_keys
    where api_keys.user_id = users.id and revoked_at is null and (expires_at is null or expires_at > clock_timestamp())
    order by api_keys.created_at desc, api_keys.id desc
    limit 1
  ) as newest on true
  order by users.created_at desc, users.id desc
  limit ${MAX_USERS}`;

/** The users that are visible, newest first; 10,000 at most. */
export const listUsers = async (transaction: Transaction): Promise<readonly ListedUser[]> => {
  const rows = await query<UserRow & { readonly selector: string | null }>(transaction, LIST);
  return rows.map((row) => ({ ...toUserRecord(row), selector: row.selector }));
};
