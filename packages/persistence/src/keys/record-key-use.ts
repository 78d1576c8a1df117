import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';

/** Rows are rewritten at most once a minute, however often a key is used. */
const RECORD = /* sql */ `
  update api_keys set last_used_at = clock_timestamp()
  where id = cast(:id as uuid) and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')`;

/** Notes that a key was used now, to the minute. */
export const recordKeyUse = async (transaction: Transaction, id: string): Promise<void> => {
  if (isUuid(id)) await query(transaction, RECORD, { id });
};
