import { type StoredApiKey } from '@decision/contracts';
import { type Database } from '../connection/database';

interface FoundKeyRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly selector: string;
  readonly secret_hash: string;
  readonly role: string;
  readonly entitlements: string[];
  readonly user_groups: string[];
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
}

const FIND = /* sql */ `
  select id, workspace_id, selector, encode(secret_hash, 'hex') as secret_hash, role, entitlements, user_groups, expires_at, revoked_at
  from find_api_key(:selector)`;

/**
 * Looks up the key behind a selector, before anything about the caller is known. The caller still has to compare the hash, the
 * expiry and the revocation: keys that are expired or revoked are found too.
 */
export const findApiKey = async (
  database: Pick<Database, 'lookUp'>,
  selector: string,
): Promise<StoredApiKey | undefined> => {
  const [row] = await database.lookUp<FoundKeyRow>(FIND, { selector });
  return row && toStoredApiKey(row);
};

const toStoredApiKey = (row: FoundKeyRow): StoredApiKey => ({
  id: row.id,
  workspaceId: row.workspace_id,
  selector: row.selector,
  secretHash: row.secret_hash,
  role: row.role,
  entitlements: row.entitlements,
  userGroups: row.user_groups,
  expiresAt: row.expires_at?.toISOString() ?? null,
  revokedAt: row.revoked_at?.toISOString() ?? null,
});
