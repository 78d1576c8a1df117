import { accessOf } from '@decision/infrastructure';
import {
  type ApiKey,
  apiKeyFields,
  cacheKeys,
  createApiKey,
  type CreateApiKeyRequest,
  type CreatedApiKey,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
  type RotateApiKeyRequest,
  ServiceError,
  toAnswer,
  toGiven,
} from '@decision/contracts';
import {
  createApiKey as storeApiKey,
  findKeyRole,
  listApiKeys as listStoredKeys,
  revokeApiKey as revokeStoredKey,
  rotateApiKey as rotateStoredKey,
  type WorkspaceAccess,
} from '@decision/persistence';
import {
  assignableGroups,
  bindOperation,
  type BoundOperation,
  generateApiKey,
  type Identity,
  readPageQuery,
} from '@decision/service-kit';
import { type AnnouncingContext, changeAndAnnounce } from '../announcements';
import { refused, requireGrantableRole } from '../grants';

/** Dependencies of the management of keys. */
export interface KeyContext extends AnnouncingContext {
  readonly randomBytes: (size: number) => Buffer;
  /** Epoch ms. */
  readonly now: () => number;
}

const DEFAULT_OVERLAP_SECONDS = 86_400;

/** The calls under /api/v1/admin/keys. */
export const keyRoutes = (context: KeyContext): readonly BoundOperation[] => [
  bindOperation(createApiKey, ({ identity, body }) => createKey(context, identity, body)),
  bindOperation(listApiKeys, ({ identity, query }) => listKeys(context, accessOf(identity), readPageQuery(query))),
  bindOperation(revokeApiKey, async ({ identity, params }) => ({
    message: await revokeKey(context, accessOf(identity), params['id'] ?? ''),
  })),
  bindOperation(rotateApiKey, ({ identity, params, body }) => rotateKey(context, identity, params['id'] ?? '', body)),
];

/**
 * Creates a key; its secret is shown only in this answer. Throws `invalid_request` for an unknown role, a past expiry or foreign groups, and
 * `forbidden` for a role that may do more than the caller.
 */
const createKey = async (
  context: KeyContext,
  identity: Identity,
  request: CreateApiKeyRequest,
): Promise<CreatedApiKey> => {
  const given = toGiven(apiKeyFields, request);
  const { role, expiresAt } = given;
  if (expiresAt !== null && Date.parse(expiresAt) <= context.now())
    throw refused('/expires_at', 'must lie in the future');
  const userGroups = assignableGroups(identity.userGroups, given.userGroups);
  const { apiKey, selector, secretHash } = generateApiKey(context.randomBytes);
  const outcome = await context.database.inWorkspace(accessOf(identity), async (transaction) => {
    await requireGrantableRole(transaction, identity, role);
    return storeApiKey(transaction, { ...given, selector, secretHash, userGroups });
  });
  if (outcome.status === 'unknown_role') throw refused('/role', `must be one of: ${outcome.roles.join(', ')}`);
  return { ...toAnswer(apiKeyFields, outcome.key), api_key: apiKey };
};

const listKeys = async (
  context: KeyContext,
  access: WorkspaceAccess,
  page: { readonly limit: number; readonly cursor: string | undefined },
): Promise<{ data: ApiKey[]; next_cursor: string | null }> => {
  const { keys, nextCursor } = await context.database.inWorkspace(access, (transaction) =>
    listStoredKeys(transaction, page),
  );
  return { data: keys.map((key) => toAnswer(apiKeyFields, key)), next_cursor: nextCursor };
};

/** Revokes a key and tells every process. Throws `key_not_found`. Idempotent. */
const revokeKey = async (context: KeyContext, access: WorkspaceAccess, id: string): Promise<string> => {
  const key = await changeAndAnnounce(context, access, async (transaction, announceLater) => {
    const revoked = await revokeStoredKey(transaction, id);
    if (revoked === undefined) throw keyNotFound(id);
    announceLater({ kind: 'api-key', keys: [cacheKeys.apiKey(revoked.selector)] });
    return revoked;
  });
  return `API key "${key.name}" was revoked.`;
};

/** Creates the successor of a key; both are valid for a while. Throws `key_not_found`, `key_not_rotatable`, and `forbidden` as {@link createKey}. */
const rotateKey = async (
  context: KeyContext,
  identity: Identity,
  id: string,
  { overlap_seconds: overlapSeconds = DEFAULT_OVERLAP_SECONDS }: RotateApiKeyRequest,
): Promise<CreatedApiKey> => {
  const { apiKey, selector, secretHash } = generateApiKey(context.randomBytes);
  const outcome = await changeAndAnnounce(context, accessOf(identity), async (transaction, announceLater) => {
    const role = await findKeyRole(transaction, id);
    if (role !== undefined) await requireGrantableRole(transaction, identity, role);
    const rotated = await rotateStoredKey(transaction, id, { selector, secretHash, overlapSeconds });
    if (rotated.status === 'rotated' && rotated.ended.length > 0)
      announceLater({ kind: 'api-key', keys: rotated.ended.map(cacheKeys.apiKey) });
    return rotated;
  });
  switch (outcome.status) {
    case 'not_found':
      throw keyNotFound(id);
    case 'not_rotatable':
      throw notRotatable(outcome.state);
    case 'rotated':
      return { ...toAnswer(apiKeyFields, outcome.key), api_key: apiKey };
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
