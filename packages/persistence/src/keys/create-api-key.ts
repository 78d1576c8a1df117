import { ServiceError } from '@decision/contracts';
import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { type ApiKeyRecord, apiKeyColumns, changeOfKey, type ApiKeyRow, toApiKeyRecord } from './api-key-record';

export interface NewApiKey {
  /** A UUID; made where it is not given. */
  readonly id?: string;
  readonly selector: string;
  /** SHA-256 of the secret, 64 hex digits. */
  readonly secretHash: string;
  readonly name: string;
  readonly role: string;
  /** Empty: not restricted; only an access without restriction may make such a key. */
  readonly userGroups: readonly string[];
  /** ISO 8601; null: never. */
  readonly expiresAt: string | null;
  /** The user whose key it is; default nobody's. */
  readonly userId?: string;
}

type CreateApiKeyOutcome =
  | { readonly status: 'created'; readonly key: ApiKeyRecord }
  /** The workspace has no such role; these are the ones it has. */
  | { readonly status: 'unknown_role'; readonly roles: readonly string[] };

const ROLES = /* sql */ `select name from roles order by name`;

const INSERT = /* sql */ `
  insert into api_keys (id, selector, secret_hash, name, role, user_groups, expires_at, user_id)
  values (
    coalesce(cast(:id as uuid), gen_random_uuid()), :selector, decode(:secret_hash, 'hex'), :name, :role,
    cast(:user_groups as text[]), cast(:expires_at as timestamptz), cast(:user_id as uuid)
  )
  on conflict do nothing
  returning ${apiKeyColumns}`;

/**
 * Stores a key. Throws `forbidden` where a restricted access would give away groups that it does not have, and `internal_error`
 * where chance has made an id or selector that exists; another attempt makes others.
 */
export const createApiKey = async (transaction: Transaction, key: NewApiKey): Promise<CreateApiKeyOutcome> => {
  const roles = (await query<{ name: string }>(transaction, ROLES)).map(({ name }) => name);
  if (!roles.includes(key.role)) return { status: 'unknown_role', roles };
  const [row] = await query<ApiKeyRow>(transaction, INSERT, {
    id: key.id ?? null,
    selector: key.selector,
    secret_hash: key.secretHash,
    name: key.name,
    role: key.role,
    user_groups: key.userGroups,
    expires_at: key.expiresAt,
    user_id: key.userId ?? null,
  });
  if (row) {
    const created = toApiKeyRecord(row);
    await recordChange(transaction, changeOfKey('create', undefined, created));
    return { status: 'created', key: created };
  }
  throw new ServiceError('internal_error', 'A key with this id or selector exists already; try again.');
};
