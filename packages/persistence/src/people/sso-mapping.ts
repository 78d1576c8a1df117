import { ServiceError } from '@decision/contracts';
import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { holdRole } from '../roles/roles';
import { type ChangedPerson, changePerson, findAdmin, lockPerson, type PersonChanges } from './people';

const READ = /* sql */ `select sso_role_mapping as mapping from users where id = app_admin_id()`;
const LOCK = /* sql */ `select sso_role_mapping as mapping from users where id = app_admin_id() for update`;
const SAVE = /* sql */ `update users set sso_role_mapping = cast(:mapping as json) where id = app_admin_id()`;

/** The mapping of claims on the row of the administrator; undefined where none is saved. Its shape is the one that it was saved with. */
export const readSsoRoleMapping = async <T extends object>(transaction: Transaction): Promise<T | undefined> => {
  const [row] = await query<{ mapping: T | null }>(transaction, READ);
  return row?.mapping ?? undefined;
};

/**
 * Saves the mapping on the row of the administrator, or takes it away. Needs an access without restriction, and one administrator: `no_admin` where
 * nobody has signed in yet and none was made.
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

/** What a mapping says of a person; absent parts stay as they are. */
interface MappedRights {
  readonly role?: string | undefined;
  readonly userGroups?: readonly string[] | undefined;
  readonly allGroups?: boolean | undefined;
  readonly profile?: Readonly<Record<string, unknown>> | undefined;
}

/** Whether anything changed, with the person as it is now. */
interface MappedPerson extends ChangedPerson {
  readonly changed: boolean;
}

/**
 * Gives a person what a mapping says, and the person's keys with it. The administrator gets a profile and keeps role and groups. `allGroups` takes
 * the groups away, and groups take `allGroups` away. Needs an access without restriction. Throws `user_not_found`, and `forbidden` with the reason
 * `unknown_role` where the role is gone since the mapping was saved.
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
