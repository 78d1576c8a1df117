import {
  type AcceptInvitationRequest,
  type CreatedUser,
  type InvitedUser,
  type InviteUserRequest,
  ServiceError,
  type ShownInvitation,
} from '@decision/contracts';
import { accessOf, findShownInvitation } from '@decision/infrastructure';
import { createInvitation, type FoundInvitation, takeInvitation } from '@decision/persistence';
import {
  assignableGroups,
  createLinkToken,
  generateApiKey,
  hashPassword,
  type Identity,
  type RequestContext,
} from '@decision/service-kit';
import { refused } from '../grants';
import {
  DEFAULT_ROLE,
  emailTaken,
  onlyUnrestricted,
  requireRights,
  toCreatedUser,
  type UserContext,
} from './user-context';
import { storeUserWithKey } from './users';

/** How long a link is valid, ms. */
const LIFE_MS = 7 * 86_400_000;
/** How long a mail may take, ms; the answer waits for it. */
const MAIL_MS = 10_000;

/**
 * Creates an invitation; only this answer and the mail show its links. Throws `email_taken`, `invalid_request` and `forbidden`. A failed mail
 * reverts nothing: the link can be passed on by hand.
 */
export const inviteUser = async (
  context: UserContext,
  identity: Identity,
  { email, role = DEFAULT_ROLE, user_groups: wanted, all_groups: allGroups = false }: InviteUserRequest,
): Promise<InvitedUser> => {
  if (allGroups && identity.userGroups !== undefined) throw onlyUnrestricted();
  const userGroups = assignableGroups(identity.userGroups, wanted);
  if (allGroups && userGroups.length > 0) throw refused('/all_groups', 'excludes user_groups; leave one of them out');
  const { token, selector, tokenHash } = createLinkToken(context.randomBytes);
  const expiresAt = new Date(context.now() + LIFE_MS).toISOString();
  const outcome = await context.database.inWorkspace(accessOf(identity), async (transaction) => {
    await requireRights(transaction, identity, { role, userGroups });
    return createInvitation(transaction, { email, role, userGroups, allGroups, selector, tokenHash, expiresAt });
  });
  if (outcome.status === 'email_taken') throw emailTaken(email);
  const { id, expiresAt: expires_at } = outcome.invitation;
  const page = `${context.publicUrl}/auth/invitation/${token}`;
  const mailed = await mailInvitation(context, { id, email, page, expiresAt });
  return {
    message: `An invitation for "${email}" was made. ${mailed}`,
    user: { email, role, user_groups: [...userGroups] },
    invitation: { id, link: `${context.publicUrl}/api/v1/invitations/${token}`, page, expires_at },
  };
};

interface InvitationMail {
  readonly id: string;
  readonly email: string;
  readonly page: string;
  readonly expiresAt: string;
}

/** The outcome of the mail, as a sentence. */
const mailInvitation = async (
  { mailer }: UserContext,
  { id, email, page, expiresAt }: InvitationMail,
): Promise<string> => {
  if (mailer === undefined) return 'Hand over the link; no mail was sent.';
  const text = `You are invited to the decision service. Accept on this page, once, until ${expiresAt}:\n\n${page}\n\nIf you do not expect this, do nothing.\n`;
  const mail = { id: `invitation-${id}`, to: [email], subject: 'You are invited to the decision service', text };
  try {
    const { refused: refusals } = await mailer.send(mail, AbortSignal.timeout(MAIL_MS));
    return refusals === 0 ? 'It was mailed.' : 'The mail server refused the address; hand over the link.';
  } catch {
    return 'It could not be mailed at this moment; hand over the link.';
  }
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
  // Nobody is signed in; the invitation itself is the actor.
  const access = { workspaceId, userGroups: undefined, actor: `invitation:${email}`, origin: { address, requestId } };
  const user = await context.database.inWorkspace(access, async (transaction) => {
    const taken = await takeInvitation(transaction, id, 'accept');
    if (taken === undefined) throw notFound();
    const { role, userGroups, allGroups } = taken;
    return storeUserWithKey(transaction, { email, name, role, userGroups, allGroups, passwordHash }, key);
  });
  return toCreatedUser(user, key.apiKey, `Welcome. User "${email}" was created.`);
};

const requireInvitation = async ({ database, now }: UserContext, token: string): Promise<FoundInvitation> => {
  const found = await findShownInvitation(database, token, now());
  if (found === undefined) throw notFound();
  return found;
};

const notFound = (): ServiceError =>
  new ServiceError('invitation_not_found', 'The invitation is unknown, used, withdrawn or expired; ask for a new one.');
