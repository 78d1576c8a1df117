import { type Change } from '../audit/change';

/** An API key as its workspace sees it: never its secret, not even the hash. Times are ISO 8601 UTC with milliseconds. */
export interface ApiKeyRecord {
  readonly id: string;
  readonly name: string;
  /** The public part, by which the key is found. */
  readonly selector: string;
  readonly role: string;
  /** Empty: not restricted. */
  readonly userGroups: readonly string[];
  readonly createdAt: string;
  readonly createdBy: string | null;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}

export interface ApiKeyRow {
  readonly id: string;
  readonly name: string;
  readonly selector: string;
  readonly role: string;
  readonly user_groups: string[];
  readonly created_at: Date;
  readonly created_by: string | null;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
  readonly revoked_at: Date | null;
}

/** The columns that the runtime role may read. */
export const apiKeyColumns =
  'id, name, selector, role, user_groups, created_at, created_by, expires_at, last_used_at, revoked_at';

export const toApiKeyRecord = (row: ApiKeyRow): ApiKeyRecord => ({
  id: row.id,
  name: row.name,
  selector: row.selector,
  role: row.role,
  userGroups: row.user_groups,
  createdAt: row.created_at.toISOString(),
  createdBy: row.created_by,
  expiresAt: row.expires_at?.toISOString() ?? null,
  lastUsedAt: row.last_used_at?.toISOString() ?? null,
  revokedAt: row.revoked_at?.toISOString() ?? null,
});

/** A change of a key for the audit; the last use is none. */
export const changeOfKey = (action: string, before: ApiKeyRecord | undefined, after: ApiKeyRecord): Change => {
  const shown = (key: ApiKeyRecord): object => ({ ...key, lastUsedAt: undefined });
  return {
    ...{ kind: 'api_key', action, id: after.id, name: after.name, userGroups: after.userGroups },
    before: before && shown(before),
    after: shown(after),
  };
};
