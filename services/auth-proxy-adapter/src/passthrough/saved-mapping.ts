import { evaluateMapping, type SsoRoleMapping } from '@decision/contracts';
import { applyMapping, findPerson, readSsoRoleMapping } from '@decision/persistence';
import { type ApplySavedMapping } from './begin-session';

/**
 * Applies the mapping that the administrator saved, if any, to a person with these claims (specification: "User lifecycle", rules 3 to 6;
 * docs/adr/0066-what-claims-mean.md). A denied person keeps the previous role and groups. The administrator cannot be denied: a mistake in
 * the mapping must not lock out the one who can correct it.
 */
export const applySavedMapping: ApplySavedMapping = async (transaction, userId, claims) => {
  const mapping = await readSsoRoleMapping<SsoRoleMapping>(transaction);
  if (mapping === undefined) return { selectors: [], changed: false };
  const { access, reason, ...rights } = evaluateMapping(mapping, claims);
  const isAdmin = (await findPerson(transaction, userId))?.isAdmin === true;
  if (access === 'denied' && !isAdmin) return { denied: reason, selectors: [], changed: false };
  const { changed, selectors } = await applyMapping(transaction, userId, rights);
  return { changed, selectors };
};
