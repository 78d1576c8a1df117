import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { type ApiKeyRecord, apiKeyColumns, type ApiKeyRow, toApiKeyRecord } from './api-key-record';

const REVOKE = /* sql */ `
  update api_keys set revoked_at = coalesce(revoked_at, clock_timestamp())
  where id = cast(:id as uuid)
  returning ${apiKeyColumns}`;

/** Revokes a key for good and answers it; a second time changes nothing. Undefined where no such key is visible. */
export const revokeApiKey = async (transaction: Transaction, id: string): Promise<ApiKeyRecord | undefined> => {
  if (!isUuid(id)) return undefined;
  const [row] = await query<ApiKeyRow>(transaction, REVOKE, { id });
  return row && toApiKeyRecord(row);
};
