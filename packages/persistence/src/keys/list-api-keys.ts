import { query, type Transaction } from '../connection/query';
import { type PageRequest } from '../paging/page';
import { entriesToRead, startOfPage, takePage } from '../paging/take-page';
import { type ApiKeyRecord, apiKeyColumns, type ApiKeyRow, toApiKeyRecord } from './api-key-record';

interface ApiKeyList {
  readonly keys: readonly ApiKeyRecord[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** One page of the keys of the workspace, newest first, expired and revoked ones too. Throws `invalid_request` for a foreign cursor. */
export const listApiKeys = async (transaction: Transaction, page: PageRequest): Promise<ApiKeyList> => {
  const { condition, bindings } = startOfPage(page.cursor, 'api_keys');
  const rows = await query<ApiKeyRow>(
    transaction,
    /* sql */ `
    select ${apiKeyColumns} from api_keys
    where ${condition}
    order by created_at desc, id desc
    limit :limit`,
    { ...bindings, limit: entriesToRead(page) },
  );
  const { entries, nextCursor } = takePage(rows.map(toApiKeyRecord), page);
  return { keys: entries, nextCursor };
};
