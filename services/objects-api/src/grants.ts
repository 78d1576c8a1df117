import { ServiceError } from '@decision/contracts';
import { holdRole, listRoles, type Transaction } from '@decision/persistence';
import { type Identity } from '@decision/service-kit';

/** A field of a request that cannot be taken. */
export const refused = (path: string, message: string): ServiceError =>
  new ServiceError('invalid_request', `The field "${path.slice(1)}" ${message}.`, { problems: [{ path, message }] });

/** The groups of a thing after a change: a restricted key gives and takes groups of its own, and those of others stay. Throws `invalid_request`. */
export const changedGroups = (
  own: readonly string[] | undefined,
  before: readonly string[],
  wanted: readonly string[],
): readonly string[] => {
  if (own === undefined) return wanted;
  const isForeign = (group: string): boolean => !own.includes(group);
  if (wanted.some((group) => isForeign(group) && !before.includes(group)))
    throw refused('/user_groups', `must be among the groups of this key: ${own.join(', ')}`);
  return [...new Set([...before.filter(isForeign), ...wanted])];
};

/** Nobody gives away more than they may do themselves. Throws `forbidden` that names what is missing. */
export const requireOwn = (
  identity: Pick<Identity, 'role' | 'entitlements'>,
  entitlements: readonly string[],
  what: string,
): void => {
  const missing = entitlements.filter((entitlement) => !identity.entitlements.has(entitlement));
  if (missing.length === 0) return;
  throw new ServiceError(
    'forbidden',
    `The role "${identity.role}" of this key cannot give ${what}: it lacks ${missing.join(', ')} itself.`,
    { entitlement: missing[0], missing },
  );
};

/** The role that is to be given; nobody changes or deletes it before the transaction ends. Throws `invalid_request` where the workspace has no such role, and `forbidden` as {@link requireOwn}. */
export const requireGrantableRole = async (
  transaction: Transaction,
  identity: Pick<Identity, 'role' | 'entitlements'>,
  name: string,
): Promise<void> => {
  const role = await holdRole(transaction, name);
  if (role !== undefined) return requireOwn(identity, role.entitlements, `the role "${name}"`);
  const roles = await listRoles(transaction);
  throw refused('/role', `must be one of: ${roles.map((known) => known.name).join(', ')}`);
};
