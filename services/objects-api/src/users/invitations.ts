import { accessOf } from '@decision/infrastructure';
import { timingSafeEqual } from 'node:crypto';
import {
  type AcceptInvitationRequest,
  type CreatedUser,
  type InvitedUser,
  type InviteUserRequest,
  ServiceError,
  type ShownInvitation,
} from '@decision/contracts';
import { createInvitation, findInvitation, type FoundInvitation, takeInvitation } from '@decision/persistence';
import {
  assignableGroups,
  generateApiKey,
  hashApiKeySecret,
  type Identity,
  parseApiKey,
  type RequestContext,
  hashPassword,
} from '@decision/service-kit';

import { DEFAULT_ROLE, emailTaken, requireRights, toCreatedUser, type UserContext } from './user-context';
import { storeUserWithKey } from './users';

/** How long a link works, ms. */
const LIFE_MS = 7 * 86_400_000;
/** A link's token has the form of an API key without its prefix, and is no API key: it is stored elsewhere. */
const PREFIX = 'dsk_';

/** Makes an invitation, whose link is in this answer alone. Throws `email_taken`, `invalid_request` and `forbidden`. */
export const inviteUser = async (
  context: UserContext,
  identity: Identity,
  { email, role = DEFAULT_ROLE, user_groups: wanted }: InviteUserRequest,
): Promise<InvitedUser> => {
  const userGroups = assignableGroups(identity.userGroups, wanted);
  const { apiKey, selector, secretHash: tokenHash } = generateApiKey(context.randomBytes);
  const expiresAt = new Date(context.now() + LIFE_MS).toISOString();
  const outcome = await context.database.inWorkspace(accessOf(identity), async (transaction) => {
    await requireRights(transaction, identity, { role, userGroups });
    return createInvitation(transaction, { email, role, userGroups, selector, tokenHash, expiresAt });
  });
  if (outcome.status === 'email_taken') throw emailTaken(email);
  const link = `${context.publicUrl}/api/v1/invitations/${apiKey.slice(PREFIX.length)}`;
  return {
    message: `An invitation for "${email}" was made. Hand over the link; no mail was sent.`,
    user: { email, role, user_groups: [...userGroups] },
    invitation: { id: outcome.invitation.id, link, expires_at: outcome.invitation.expiresAt },
  };
};

/** Withdraws an invitation. Throws `invitation_not_found`. */
export const withdrawInvitation = async (context: UserContext, identity: Identity, id: string): Promise<string> => {
  const withdrawn = await context.database.inWorkspace(accessOf(identity), (transaction) =>
    takeInvitation(transaction, id, 'withdraw'),
  );
  if (withdrawn === undefined) throw notFound();
  return `The invitation for "${withdrawn.email}" was withdrawn.`;
};

/** Invitation behind a link. Throws `invitation_not_found`. */
export const showInvitation = async (context: UserContext, token: string): Promise<ShownInvitation> => {
  const { workspaceName, email, role, expiresAt } = await requireInvitation(context, token);
  return { workspace: workspaceName, email, role, expires_at: expiresAt };
};

/** Turns an invitation into a user with a key, once. Throws `invitation_not_found` and `email_taken`. */
export const acceptInvitation = async (
  context: UserContext,
  token: string,
  { password, name = null }: AcceptInvitationRequest,
  { address, requestId }: Pick<RequestContext, 'address' | 'requestId'>,
): Promise<CreatedUser> => {
  const { id, workspaceId, email } = await requireInvitation(context, token);
  const passwordHash = await hashPassword(password, context.randomBytes);
  const key = generateApiKey(context.randomBytes);
  // Nobody is signed in; the invitation itself is who acts.
  const access = { workspaceId, userGroups: undefined, actor: `invitation:${email}`, origin: { address, requestId } };
  const user = await context.database.inWorkspace(access, async (transaction) => {
    const taken = await takeInvitation(transaction, id, 'accept');
    if (taken === undefined) throw notFound();
    const { role, userGroups } = taken;
    return storeUserWithKey(transaction, { email, name, role, userGroups, passwordHash }, key);
  });
  return toCreatedUser(user, key.apiKey, `Welcome. User "${email}" was created.`);
};

/** Unknown, used, expired and mistyped links are answered alike. */
const requireInvitation = async ({ database, now }: UserContext, token: string): Promise<FoundInvitation> => {
  const parts = parseApiKey(`${PREFIX}${token}`);
  const found = parts && (await findInvitation(database, parts.selector));
  if (parts === undefined || found === undefined) throw notFound();
  const proven = timingSafeEqual(hashApiKeySecret(parts.secret), Buffer.from(found.tokenHash, 'hex'));
  if (!proven || Date.parse(found.expiresAt) <= now()) throw notFound();
  return found;
};

const notFound = (): ServiceError =>
  new ServiceError('invitation_not_found', 'The invitation is unknown, used, withdrawn or expired; ask for a new one.');
