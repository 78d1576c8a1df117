import { ServiceError } from '@decision/contracts';
import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { holdRole } from '../roles/roles';
import { type ChangedPerson, changePerson, findAdmin, lockPerson, type PersonChanges } from './people';

const READ = /* sql */ `select sso_role_mapping as mapping from users where id = app_admin_id()`;
const LOCK = /* sql */ `select sso_role_mapping as mapping from users where id = app_admin_id() for update`;
const SAVE = /* sql */ `update users set sso_role_mapping = cast(:mapping as json) where id = app_admin_id()`;

/** The mapping of claims on the row of the administrator; undefined if none is saved. It has the shape in which it was saved. */
export const readSsoRoleMapping = async <T extends object>(transaction: Transaction): Promise<T | undefined> => {
  const [row] = await query<{ mapping: T | null }>(transaction, READ);
  return row?.mapping ?? undefined;
};

/**
 * Saves the mapping on the row of the administrator, or removes it. Needs an unrestricted access and an administrator: `no_admin` if nobody
 * has signed in yet and none was created.
 */
export const saveSsoRoleMapping = async (
  transaction: Transaction,
  mapping: object | null,
): Promise<'saved' | 'no_admin'> => {
  const [row] = await query<{ mapping: object | null }>(transaction, LOCK);
  const admin = await findAdmin(transaction);
  if (row === undefined || admin === undefined) return 'no_admin';
  await query(transaction, SAVE, { mapping: mapping === null ? null : JSON.stringify(mapping) });
  const action = mapping === null ? 'delete' : row.mapping === null ? 'create' : 'update';
  const change = { kind: 'sso_mapping', action, id: admin.id, name: admin.email, before: row.mapping, after: mapping } as const; // prettier-ignore
  await recordChange(transaction, change);
  return 'saved';
};

/** Result of a mapping for a person; absent parts stay unchanged. */
interface MappedRights {
  readonly role?: string | undefined;
  readonly userGroups?: readonly string[] | undefined;
  readonly allGroups?: boolean | undefined;
  readonly profile?: Readonly<Record<string, unknown>> | undefined;
}

/** Whether anything changed, with the person in its current state. */
interface MappedPerson extends ChangedPerson {
  readonly changed: boolean;
}

/**
 * Applies the result of a mapping to a person, and to the person's keys. The administrator gets a profile and keeps role and groups.
 * `allGroups` removes the groups, and groups remove `allGroups`. Needs an unrestricted access. Throws `user_not_found`, and `forbidden`
 * with the reason `unknown_role` if the role was deleted after the mapping was saved.
 */
export const applyMapping = async (
  transaction: Transaction,
  userId: string,
  { role, userGroups, allGroups, profile }: MappedRights,
): Promise<MappedPerson> => {
  const known = role === undefined || (await holdRole(transaction, role)) !== undefined;
  const before = await lockPerson(transaction, userId);
  if (before === undefined) throw new ServiceError('user_not_found', `No user with the id ${userId} is visible.`, { id: userId }); // prettier-ignore
  if (!known && !before.isAdmin) throw unknownRole(role);
  const rights: PersonChanges = before.isAdmin
    ? {}
    : {
        ...(role === undefined ? {} : { role }),
        ...(userGroups === undefined ? {} : { userGroups, allGroups: false }),
        ...(allGroups === undefined ? {} : { allGroups }),
        ...(allGroups === true ? { userGroups: [] } : {}),
      };
  const metadata = profile === undefined ? {} : { metadata: { ...before.metadata, profile } };
  const changed = await changePerson(transaction, before, { ...rights, ...metadata }, 'map');
  return { changed: changed.person !== before, ...changed };
};

const unknownRole = (role: string): ServiceError =>
  new ServiceError(
    'forbidden',
    `The mapping of claims gives the role "${role}", which the workspace has no longer; an administrator must change the mapping.`,
    { reason: 'unknown_role' },
  );
