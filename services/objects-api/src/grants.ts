import { ServiceError } from '@decision/contracts';
import { holdRole, listRoles, type Transaction } from '@decision/persistence';
import { type Identity } from '@decision/service-kit';

/** An invalid field of a request. */
export const refused = (path: string, message: string): ServiceError =>
  new ServiceError('invalid_request', `The field "${path.slice(1)}" ${message}.`, { problems: [{ path, message }] });

/** The groups of an asset after a change: a restricted key adds and removes its own groups; the other groups stay. Throws `invalid_request`. */
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

/** Callers cannot grant more than they may do themselves. Throws `forbidden`, which names the missing entitlements. */
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

/**
 * The role to be granted, locked against changes and deletion until the transaction ends. Throws `invalid_request` if the workspace has no such
 * role, and `forbidden` as {@link requireOwn}.
 */
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
