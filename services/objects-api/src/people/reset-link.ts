import { accessOf } from '@decision/infrastructure';
import { ServiceError } from '@decision/contracts';
import { createUserLink, findPerson } from '@decision/persistence';
import { generateApiKey, type Identity } from '@decision/service-kit';
import { requireGrantableRole } from '../grants';
import { type UserContext, userNotFound } from '../users/user-context';

/** How long a link works, ms. */
const LIFE_MS = 86_400_000;
/** A link's token has the form of an API key without its prefix, and is no API key: it is stored elsewhere. */
const PREFIX = 'dsk_';

interface MadeLink {
  readonly message: string;
  readonly link: string;
  readonly expires_at: string;
}

/**
 * Makes a link with which a person chooses a password; it is in this answer alone. Throws `user_not_found`, and `forbidden` where the person may do or
 * see more than the caller: the bearer of the link becomes the person.
 */
export const makeResetLink = async (context: UserContext, identity: Identity, userId: string): Promise<MadeLink> => {
  const { apiKey, selector, secretHash: tokenHash } = generateApiKey(context.randomBytes);
  const expiresAt = new Date(context.now() + LIFE_MS).toISOString();
  const email = await context.database.inWorkspace(accessOf(identity), async (transaction) => {
    const person = await findPerson(transaction, userId);
    if (person === undefined) throw userNotFound(userId);
    await requireGrantableRole(transaction, identity, person.role);
    const own = identity.userGroups;
    if (own !== undefined && (person.allGroups || person.userGroups.some((group) => !own.includes(group))))
      throw seesMore();
    await createUserLink(transaction, { userId: person.id, purpose: 'reset', selector, tokenHash, expiresAt });
    return person.email;
  });
  return {
    message: `A link for "${email}" was made. Hand it over; no mail was sent.`,
    link: `${context.publicUrl}/auth/reset/${apiKey.slice(PREFIX.length)}`,
    expires_at: expiresAt,
  };
};

const seesMore = (): ServiceError =>
  new ServiceError(
    'forbidden',
    'The person sees user groups that the caller does not; whoever uses the link would too.',
  );
