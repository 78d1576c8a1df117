import { accessOf } from '@decision/infrastructure';
import {
  type Claims,
  evaluateMapping,
  type SavedMappingAnswer,
  type SaveSsoMappingRequest,
  ServiceError,
  type SsoRoleMapping,
  type TriedMapping,
} from '@decision/contracts';
import {
  findPerson,
  findUnknownGroups,
  holdRole,
  listRoles,
  readSsoRoleMapping,
  saveSsoRoleMapping,
  type Transaction,
} from '@decision/persistence';
import { type Identity } from '@decision/service-kit';
import { requireOwn } from '../grants';
import { type UserContext, userNotFound } from '../users/user-context';

/** The current mapping; null if none is saved. Throws `forbidden` for callers that are restricted to groups. */
export const readMapping = async ({ database }: UserContext, identity: Identity): Promise<SsoRoleMapping | null> => {
  requireUnrestricted(identity);
  const mapping = await database.inWorkspace(accessOf(identity), (transaction) =>
    readSsoRoleMapping<SsoRoleMapping>(transaction),
  );
  return mapping ?? null;
};

/**
 * Saves a mapping, or tries it, after checking that its roles and groups exist and that the caller may grant them. Throws `invalid_request` with
 * every problem, `forbidden`, `user_not_found`, and `no_administrator` if no row exists that could hold it.
 */
export const saveMapping = async (
  { database }: UserContext,
  identity: Identity,
  { mapping, dry_run: isTrial = false, user_id: userId, claims }: SaveSsoMappingRequest,
): Promise<SavedMappingAnswer> => {
  requireUnrestricted(identity);
  if (userId !== undefined && claims !== undefined)
    throw invalid([{ path: '/claims', message: 'must not be given together with user_id: try the mapping on one of them' }]); // prettier-ignore
  const tried = await database.inWorkspace(accessOf(identity), async (transaction) => {
    if (mapping !== null) await requireSensible(transaction, identity, mapping);
    const tryOn = userId === undefined ? claims : await claimsOf(transaction, userId);
    if (!isTrial && (await saveSsoRoleMapping(transaction, mapping)) === 'no_admin') throw noAdministrator();
    return tryOn === undefined ? null : toTried(mapping ?? {}, tryOn);
  });
  return { message: messageOf(mapping, isTrial), mapping, tried };
};

const messageOf = (mapping: SsoRoleMapping | null, isTrial: boolean): string => {
  if (isTrial) return 'The mapping was tried; nothing was saved.';
  return mapping === null ? 'The mapping was taken away.' : 'The mapping was saved; it is applied at each sign-in.';
};

const toTried = (mapping: SsoRoleMapping, claims: Claims): TriedMapping => {
  const { access, reason, role, userGroups, allGroups, profile } = evaluateMapping(mapping, claims);
  return {
    ...{ access, reason: reason ?? null, role: role ?? null },
    ...{ user_groups: userGroups === undefined ? null : [...userGroups], all_groups: allGroups ?? null },
    profile: profile ?? null,
  };
};

const claimsOf = async (transaction: Transaction, userId: string): Promise<Claims> => {
  const person = await findPerson(transaction, userId);
  if (person === undefined) throw userNotFound(userId);
  return person.metadata.external_claims;
};

interface Problem {
  readonly path: string;
  readonly message: string;
}

/** Throws `invalid_request` for roles and groups that the workspace does not have, and `forbidden` for roles that may do more than the caller. */
const requireSensible = async (
  transaction: Transaction,
  identity: Identity,
  { role, tenants }: SsoRoleMapping,
): Promise<void> => {
  const problems: Problem[] = [];
  const roles = new Map<string, string>();
  role?.mappings.forEach((mapped, index) => roles.set(mapped.role, roles.get(mapped.role) ?? `/mapping/role/mappings/${index}/role`)); // prettier-ignore
  if (role?.default !== undefined) roles.set(role.default, roles.get(role.default) ?? '/mapping/role/default');
  for (const [name, path] of roles) {
    const known = await holdRole(transaction, name);
    if (known === undefined)
      problems.push({ path, message: `must be a role of the workspace: ${await rolesOf(transaction)}` }); // prettier-ignore
    else requireOwn(identity, known.entitlements, `the role "${name}"`);
  }
  const given = [
    ...(tenants?.mappings ?? []).map(({ groups }, index) => ({ groups, path: `/mapping/tenants/mappings/${index}/groups` })),
    { groups: tenants?.default ?? [], path: '/mapping/tenants/default' },
  ]; // prettier-ignore
  const unknown = new Set(await findUnknownGroups(transaction, [...new Set(given.flatMap(({ groups }) => (groups === 'all' ? [] : groups)))])); // prettier-ignore
  for (const { groups, path } of given) {
    const missing = groups === 'all' ? [] : groups.filter((name) => unknown.has(name));
    if (missing.length > 0) problems.push({ path, message: `must be groups of the workspace, which these are not: ${missing.join(', ')}` }); // prettier-ignore
  }
  if (problems.length > 0) throw invalid(problems);
};

const rolesOf = async (transaction: Transaction): Promise<string> =>
  (await listRoles(transaction)).map(({ name }) => name).join(', ');

const invalid = (problems: readonly Problem[]): ServiceError => {
  const [{ path, message } = { path: '', message: '' }] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return new ServiceError('invalid_request', `The field "${path.slice(1)}" ${message}${more}.`, { problems });
};

/** The meaning of claims concerns everybody. */
const requireUnrestricted = ({ userGroups }: Identity): void => {
  if (userGroups === undefined) return;
  throw new ServiceError(
    'forbidden',
    'A key or person restricted to user groups can neither read nor change the mapping of claims: it applies to everyone.',
  );
};

const noAdministrator = (): ServiceError =>
  new ServiceError(
    'no_administrator',
    'The workspace has no administrator yet, on whose row the mapping is kept. Sign in once, or start the door for people with ADMIN_EMAIL.',
  );
