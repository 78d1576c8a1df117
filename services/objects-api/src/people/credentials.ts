import { accessOf } from '@decision/infrastructure';
import { ServiceError } from '@decision/contracts';
import { clearTotp, createUserLink, findPerson, type PersonRecord, type Transaction } from '@decision/persistence';
import { createLinkToken, type Identity } from '@decision/service-kit';
import { requireGrantableRole } from '../grants';
import { type UserContext, userNotFound } from '../users/user-context';

/** How long a link is valid, ms. */
const LIFE_MS = 86_400_000;

interface MadeLink {
  readonly message: string;
  readonly link: string;
  readonly expires_at: string;
}

/**
 * Creates a link with which a person chooses a password; only this answer shows it. Throws `user_not_found`, and `forbidden` if the person may
 * do or see more than the caller: the bearer of the link becomes the person.
 */
export const makeResetLink = async (context: UserContext, identity: Identity, userId: string): Promise<MadeLink> => {
  const { token, selector, tokenHash } = createLinkToken(context.randomBytes);
  const expiresAt = new Date(context.now() + LIFE_MS).toISOString();
  const email = await context.database.inWorkspace(accessOf(identity), async (transaction) => {
    const person = await requireLesser(transaction, identity, userId);
    await createUserLink(transaction, { userId: person.id, purpose: 'reset', selector, tokenHash, expiresAt });
    return person.email;
  });
  return {
    message: `A link for "${email}" was made. Hand it over; no mail was sent.`,
    link: `${context.publicUrl}/auth/reset/${token}`,
    expires_at: expiresAt,
  };
};

/** Turns off the second factor of a person who has lost it. Throws as {@link makeResetLink}. */
export const removeFactor = async (
  { database }: UserContext,
  identity: Identity,
  userId: string,
): Promise<{ readonly message: string }> =>
  database.inWorkspace(accessOf(identity), async (transaction) => {
    const { id, email } = await requireLesser(transaction, identity, userId);
    const message = (await clearTotp(transaction, id))
      ? `"${email}" signs in with the password alone.`
      : `"${email}" has no second factor.`;
    return { message };
  });

/** A person who may do and see no more than the caller: a caller who changes the person's credentials could become that person. */
const requireLesser = async (transaction: Transaction, identity: Identity, userId: string): Promise<PersonRecord> => {
  const person = await findPerson(transaction, userId);
  if (person === undefined) throw userNotFound(userId);
  await requireGrantableRole(transaction, identity, person.role);
  const own = identity.userGroups;
  if (own !== undefined && (person.allGroups || person.userGroups.some((group) => !own.includes(group))))
    throw seesMore();
  return person;
};

const seesMore = (): ServiceError =>
  new ServiceError(
    'forbidden',
    'The person sees user groups that the caller does not see; their credentials would grant them.',
  );
