import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { type ApiKeyRecord, apiKeyColumns, changeOfKey, type ApiKeyRow, toApiKeyRecord } from './api-key-record';

const LOCK = /* sql */ `select ${apiKeyColumns} from api_keys where id = cast(:id as uuid) for update`;

const REVOKE = /* sql */ `
  update api_keys set revoked_at = clock_timestamp()
  where id = cast(:id as uuid)
  returning ${apiKeyColumns}`;

/** Revokes a key for good and answers it; a second time changes nothing. Undefined where no such key is visible. */
export const revokeApiKey = async (transaction: Transaction, id: string): Promise<ApiKeyRecord | undefined> => {
  if (!isUuid(id)) return undefined;
  const [locked] = await query<ApiKeyRow>(transaction, LOCK, { id });
  if (locked === undefined || locked.revoked_at !== null) return locked && toApiKeyRecord(locked);
  const [row] = await query<ApiKeyRow>(transaction, REVOKE, { id });
  const revoked = row && toApiKeyRecord(row);
  if (revoked) await recordChange(transaction, changeOfKey('revoke', toApiKeyRecord(locked), revoked));
  return revoked;
};
