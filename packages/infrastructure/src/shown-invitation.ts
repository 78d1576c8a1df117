import { timingSafeEqual } from 'node:crypto';
import { type Database, findInvitation, type FoundInvitation } from '@decision/persistence';
import { readLinkToken } from '@decision/service-kit';

/** The invitation of a presented link; undefined for unknown, used, expired and mistyped links alike. `now`: epoch ms. */
export const findShownInvitation = async (
  database: Pick<Database, 'lookUp'>,
  token: string,
  now: number,
): Promise<FoundInvitation | undefined> => {
  const parts = readLinkToken(token);
  const found = parts && (await findInvitation(database, parts.selector));
  if (parts === undefined || found === undefined) return undefined;
  const isProven = timingSafeEqual(Buffer.from(parts.tokenHash, 'hex'), Buffer.from(found.tokenHash, 'hex'));
  return isProven && Date.parse(found.expiresAt) > now ? found : undefined;
};
