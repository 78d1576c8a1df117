import { ServiceError } from '@decision/contracts';
import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import {
  changePerson,
  findAdmin,
  findPersonByEmail,
  insertPerson,
  isSameEmail,
  lockPerson,
  type PersonChanges,
  type PersonMetadata,
  type PersonRecord,
} from './people';
import { readSsoRoleMapping } from './sso-mapping';

/** The data of a directory about a person who signs in. */
export interface ProvisionedIdentity {
  /** Identifies the person, ignoring case; stored as first written. */
  readonly email: string;
  /** The address of the administrator of the workspace. */
  readonly adminEmail: string;
  readonly name: string | null;
  /** Id in the directory; stored for display, and never compared. */
  readonly externalSub: string | null;
  /** Every claim; stored unchanged. */
  readonly externalClaims: Readonly<Record<string, unknown>>;
}

export interface ProvisionedPerson {
  /** `taken_over`: the row of the administrator waited for this person. `unchanged`: everything was known. */
  readonly status: 'created' | 'updated' | 'taken_over' | 'unchanged';
  readonly person: PersonRecord;
  /** Public parts of keys whose rights changed with the person's, and whose cache entries are stale. */
  readonly selectors: readonly string[];
}

const NEW_ROLE = 'developer';
const NOTHING_KNOWN: PersonMetadata = { external_sub: null, external_claims: {}, full_name: null, profile: {} };

/**
 * Creates or finds the person of an identity, and stores the directory's current data. For the first one of a workspace, a row for the
 * administrator is created, which the person with its address takes over. Others are created as developers, children of the administrator;
 * they see all groups until a mapping of tenants is saved, and none afterwards. Concurrent calls create one user.
 *
 * Needs an access without restriction. Throws `forbidden` with the reason `user_disabled` or `email_ambiguous`.
 */
export const provisionPerson = async (
  transaction: Transaction,
  identity: ProvisionedIdentity,
): Promise<ProvisionedPerson> => {
  const admin = await ensureAdmin(transaction, identity.adminEmail);
  const newcomer = await findNewcomerRights(transaction);
  const found = await findPersonByEmail(transaction, identity.email);
  if (found !== undefined) return update(transaction, found, identity, { admin, newcomer });
  const made = await insertPerson(transaction, {
    ...{ email: identity.email, name: identity.name, role: NEW_ROLE, allGroups: newcomer.allGroups },
    ...{ isAdmin: false, isPlaceholder: false, parentId: admin.id, metadata: metadataOf(NOTHING_KNOWN, identity) },
  });
  if (made !== undefined) return { status: 'created', person: made, selectors: [] };
  // Another request has created the person meanwhile.
  const other = await findPersonByEmail(transaction, identity.email);
  if (other !== undefined) return update(transaction, other, identity, { admin, newcomer });
  throw new ServiceError('database_unavailable', 'The person was made and deleted meanwhile; try again.');
};

interface Surroundings {
  readonly admin: PersonRecord;
  readonly newcomer: { readonly allGroups: boolean };
}

const findNewcomerRights = async (transaction: Transaction): Promise<Surroundings['newcomer']> => {
  const mapping = await readSsoRoleMapping<{ readonly tenants?: unknown }>(transaction);
  return { allGroups: (mapping?.tenants ?? undefined) === undefined };
};

/** A person whose data is current is not even locked. */
const update = async (
  transaction: Transaction,
  found: PersonRecord,
  identity: ProvisionedIdentity,
  surroundings: Surroundings,
): Promise<ProvisionedPerson> => {
  requireEnabled(found);
  if (Object.keys(changesOf(found, identity, surroundings)).length === 0)
    return { status: 'unchanged', person: found, selectors: [] };
  const locked = await lockPerson(transaction, found.id);
  if (locked === undefined) throw new ServiceError('database_unavailable', 'The person was deleted meanwhile; try again.'); // prettier-ignore
  requireEnabled(locked);
  const status = locked.isPlaceholder ? 'taken_over' : 'updated';
  const changes = changesOf(locked, identity, surroundings);
  if (Object.keys(changes).length === 0) return { status: 'unchanged', person: locked, selectors: [] };
  const changed = await changePerson(transaction, locked, changes, status === 'taken_over' ? 'take_over' : 'update');
  return { status, ...changed };
};

const requireEnabled = ({ disabledAt }: PersonRecord): void => {
  if (disabledAt === null) return;
  const message = 'The user is disabled; an administrator can enable it again.';
  throw new ServiceError('forbidden', message, { reason: 'user_disabled' });
};

/** The changes to make; empty if the row is current. */
const changesOf = (
  person: PersonRecord,
  identity: ProvisionedIdentity,
  { admin, newcomer }: Surroundings,
): PersonChanges => {
  const metadata = metadataOf(person.metadata, identity);
  const joins = !person.isAdmin && person.parentId === null;
  return {
    ...(isSameJson(metadata, person.metadata) ? {} : { metadata }),
    ...(identity.name === null || identity.name === person.name ? {} : { name: identity.name }),
    ...(person.isPlaceholder ? { isPlaceholder: false } : {}),
    // A user who was created for a key is treated like a new one at the first sign-in.
    ...(joins ? { parentId: admin.id } : {}),
    ...(joins && person.userGroups.length === 0 && newcomer.allGroups ? { allGroups: true } : {}),
  };
};

const metadataOf = (
  known: PersonMetadata,
  { name, externalSub, externalClaims }: ProvisionedIdentity,
): PersonMetadata => ({
  ...known,
  external_sub: externalSub,
  external_claims: externalClaims,
  full_name: name,
});

const isSameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Calls that find no administrator take turns: each checks again once the previous one has created it. */
const TAKE_TURN = /* sql */ `select pg_advisory_xact_lock(hashtextextended('admin ' || app_workspace_id(), 0))`;

/**
 * The administrator of the workspace; if there is none, its row is created under this address as a placeholder, or the existing user with
 * the address becomes the administrator. Until somebody has taken the row over, another address replaces it; afterwards the administrator
 * stays. Needs an unrestricted access.
 */
export const ensureAdmin = async (transaction: Transaction, email: string): Promise<PersonRecord> => {
  const known = await findAdmin(transaction);
  if (known !== undefined && (!known.isPlaceholder || isSameEmail(known.email, email))) return known;
  await query(transaction, TAKE_TURN);
  const now = await findAdmin(transaction);
  if (now === undefined) return makeAdmin(transaction, email);
  return !now.isPlaceholder || isSameEmail(now.email, email) ? now : replaceAdmin(transaction, now, email);
};

const makeAdmin = async (transaction: Transaction, email: string): Promise<PersonRecord> => {
  const rights = { role: 'admin', allGroups: true, isAdmin: true, parentId: null };
  const user = await findPersonByEmail(transaction, email);
  const locked = user && (await lockPerson(transaction, user.id));
  if (locked !== undefined) return (await changePerson(transaction, locked, { ...rights, userGroups: [] })).person;
  const row = { ...rights, email, name: null, isPlaceholder: true, metadata: NOTHING_KNOWN };
  const made = await insertPerson(transaction, row);
  if (made !== undefined) return made;
  throw new ServiceError('database_unavailable', 'A user of the address of the administrator was made meanwhile; try again.'); // prettier-ignore
};

const REPLACE = /* sql */ `
  with former as (update users set is_admin = false, parent_id = null where id = cast(:former as uuid) returning sso_role_mapping)
  select cast(sso_role_mapping as text) as mapping from former`;
const HAND_OVER = /* sql */ `update users set sso_role_mapping = cast(:mapping as json) where id = cast(:id as uuid)`;
const ADOPT = /* sql */ `update users set parent_id = cast(:id as uuid) where parent_id = cast(:former as uuid)`;
const REMOVE = /* sql */ `delete from users where id = cast(:former as uuid)`;

/** The address of the administrator changed while the row was a placeholder: the mapping and the children move to the new row. */
const replaceAdmin = async (transaction: Transaction, former: PersonRecord, email: string): Promise<PersonRecord> => {
  const [row] = await query<{ mapping: string | null }>(transaction, REPLACE, { former: former.id });
  const admin = await makeAdmin(transaction, email);
  await query(transaction, HAND_OVER, { id: admin.id, mapping: row?.mapping ?? null });
  await query(transaction, ADOPT, { id: admin.id, former: former.id });
  await query(transaction, REMOVE, { former: former.id });
  const change = { kind: 'user', action: 'delete', id: former.id, name: former.email, before: { email: former.email, isAdmin: true } } as const; // prettier-ignore
  await recordChange(transaction, change);
  return admin;
};
