import {
  type ApiKey,
  cacheKeys,
  type CreateApiKeyRequest,
  type CreatedApiKey,
  ServiceError,
} from '@decision/contracts';
import {
  type ApiKeyRecord,
  createApiKey,
  listApiKeys,
  revokeApiKey,
  type WorkspaceAccess,
} from '@decision/persistence';
import { generateApiKey } from '@decision/service-kit';
import { type AnnouncingContext, changeAndAnnounce } from '../announcing';

/** What managing keys needs from outside. */
export interface KeyContext extends AnnouncingContext {
  readonly randomBytes: (size: number) => Buffer;
  /** Epoch ms. */
  readonly now: () => number;
}

const DEFAULT_ROLE = 'developer';

/** Makes a key; its secret is in this answer and nowhere else. Throws `invalid_request` for an unknown role, a past expiry or foreign groups. */
export const createKey = async (
  context: KeyContext,
  access: WorkspaceAccess,
  request: CreateApiKeyRequest,
): Promise<CreatedApiKey> => {
  const { name, role = DEFAULT_ROLE, expires_at: expiresAt = null } = request;
  if (expiresAt !== null && Date.parse(expiresAt) <= context.now())
    throw refused('/expires_at', 'must lie in the future');
  const userGroups = assignableGroups(access.userGroups, request.user_groups);
  const { apiKey, selector, secretHash } = generateApiKey(context.randomBytes);
  const outcome = await context.database.inWorkspace(access, (transaction) =>
    createApiKey(transaction, { selector, secretHash, name, role, userGroups, expiresAt }),
  );
  if (outcome.status === 'unknown_role') throw refused('/role', `must be one of: ${outcome.roles.join(', ')}`);
  return { ...toAnswer(outcome.key), api_key: apiKey };
};

/** A restricted key hands on only groups of its own, and all of them where none are named. */
const assignableGroups = (
  own: readonly string[] | undefined,
  wanted: readonly string[] | undefined,
): readonly string[] => {
  if (own === undefined) return wanted ?? [];
  if (wanted === undefined || wanted.length === 0) return own;
  const foreign = wanted.filter((group) => !own.includes(group));
  if (foreign.length > 0) throw refused('/user_groups', `must be among the groups of this key: ${own.join(', ')}`);
  return wanted;
};

const refused = (path: string, message: string): ServiceError =>
  new ServiceError('invalid_request', `The field "${path.slice(1)}" ${message}.`, { problems: [{ path, message }] });

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
    if (revoked === undefined) throw new ServiceError('key_not_found', `No API key has the id ${id}.`, { id });
    owe({ kind: 'api-key', keys: [cacheKeys.apiKey(revoked.selector)] });
    return revoked;
  });
  return `API key "${key.name}" was revoked.`;
};

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
