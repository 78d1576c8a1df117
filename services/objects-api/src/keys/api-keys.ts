import {
  type ApiKey,
  cacheKeys,
  type CreateApiKeyRequest,
  type CreatedApiKey,
  type RotateApiKeyRequest,
  ServiceError,
} from '@decision/contracts';
import {
  type ApiKeyRecord,
  createApiKey,
  findKeyRole,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
  type WorkspaceAccess,
} from '@decision/persistence';
import { generateApiKey, type Identity } from '@decision/service-kit';
import { accessOf } from '../access';
import { type AnnouncingContext, changeAndAnnounce } from '../announcing';
import { assignableGroups, refused, requireGrantableRole } from '../grants';

/** Dependencies of the management of keys. */
export interface KeyContext extends AnnouncingContext {
  readonly randomBytes: (size: number) => Buffer;
  /** Epoch ms. */
  readonly now: () => number;
}

const DEFAULT_ROLE = 'developer';
const DEFAULT_OVERLAP_SECONDS = 86_400;

/**
 * Makes a key; its secret is in this answer and nowhere else. Throws `invalid_request` for an unknown role, a past expiry or foreign
 * groups, and `forbidden` for a role that may do more than the caller.
 */
export const createKey = async (
  context: KeyContext,
  identity: Identity,
  request: CreateApiKeyRequest,
): Promise<CreatedApiKey> => {
  const { name, role = DEFAULT_ROLE, expires_at: expiresAt = null } = request;
  if (expiresAt !== null && Date.parse(expiresAt) <= context.now())
    throw refused('/expires_at', 'must lie in the future');
  const userGroups = assignableGroups(identity.userGroups, request.user_groups);
  const { apiKey, selector, secretHash } = generateApiKey(context.randomBytes);
  const outcome = await context.database.inWorkspace(accessOf(identity), async (transaction) => {
    await requireGrantableRole(transaction, identity, role);
    return createApiKey(transaction, { selector, secretHash, name, role, userGroups, expiresAt });
  });
  if (outcome.status === 'unknown_role') throw refused('/role', `must be one of: ${outcome.roles.join(', ')}`);
  return { ...toAnswer(outcome.key), api_key: apiKey };
};

export const listKeys = async (
  context: KeyContext,
  access: WorkspaceAccess,
  page: { readonly limit: number; readonly cursor: string | undefined },
): Promise<{ data: ApiKey[]; next_cursor: string | null }> => {
  const { keys, nextCursor } = await context.database.inWorkspace(access, (transaction) =>
    listApiKeys(transaction, page),
  );
  return { data: keys.map(toAnswer), next_cursor: nextCursor };
};

/** Revokes a key and tells every process. Throws `key_not_found`. Revoking twice is the same as once. */
export const revokeKey = async (context: KeyContext, access: WorkspaceAccess, id: string): Promise<string> => {
  const key = await changeAndAnnounce(context, access, async (transaction, owe) => {
    const revoked = await revokeApiKey(transaction, id);
    if (revoked === undefined) throw keyNotFound(id);
    owe({ kind: 'api-key', keys: [cacheKeys.apiKey(revoked.selector)] });
    return revoked;
  });
  return `API key "${key.name}" was revoked.`;
};

/** Makes the successor of a key; both live for a while. Throws `key_not_found`, `key_not_rotatable`, and `forbidden` as {@link createKey}. */
export const rotateKey = async (
  context: KeyContext,
  identity: Identity,
  id: string,
  { overlap_seconds: overlapSeconds = DEFAULT_OVERLAP_SECONDS }: RotateApiKeyRequest,
): Promise<CreatedApiKey> => {
  const { apiKey, selector, secretHash } = generateApiKey(context.randomBytes);
  const outcome = await changeAndAnnounce(context, accessOf(identity), async (transaction, owe) => {
    const role = await findKeyRole(transaction, id);
    if (role !== undefined) await requireGrantableRole(transaction, identity, role);
    const rotated = await rotateApiKey(transaction, id, { selector, secretHash, overlapSeconds });
    if (rotated.status === 'rotated' && rotated.ended.length > 0)
      owe({ kind: 'api-key', keys: rotated.ended.map(cacheKeys.apiKey) });
    return rotated;
  });
  switch (outcome.status) {
    case 'not_found':
      throw keyNotFound(id);
    case 'not_rotatable':
      throw notRotatable(outcome.state);
    case 'rotated':
      return { ...toAnswer(outcome.key), api_key: apiKey };
  }
};

const keyNotFound = (id: string): ServiceError =>
  new ServiceError('key_not_found', `No API key has the id ${id}.`, { id });

const notRotatable = (state: 'revoked' | 'expired' | 'rotated'): ServiceError =>
  new ServiceError(
    'key_not_rotatable',
    state === 'rotated'
      ? 'The API key has been rotated already; rotate the one that took its place.'
      : `The API key is ${state}; create a new one.`,
    { state },
  );

const toAnswer = (key: ApiKeyRecord): ApiKey => ({
  id: key.id,
  name: key.name,
  selector: key.selector,
  role: key.role,
  user_groups: [...key.userGroups],
  created_at: key.createdAt,
  expires_at: key.expiresAt,
  last_used_at: key.lastUsedAt,
  revoked_at: key.revokedAt,
});
