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

/** What a directory says of somebody who signs in. */
export interface ProvisionedIdentity {
  /** By which the person is found, whatever its case; kept as it was written first. */
  readonly email: string;
  /** Whose address makes the administrator of the workspace. */
  readonly adminEmail: string;
  readonly name: string | null;
  /** Id in the directory; kept for people to see, and never compared. */
  readonly externalSub: string | null;
  /** Every claim; kept as it is. */
  readonly externalClaims: Readonly<Record<string, unknown>>;
}

export interface ProvisionedPerson {
  /** `taken_over`: the row of the administrator waited for this person. `unchanged`: everything was known. */
  readonly status: 'created' | 'updated' | 'taken_over' | 'unchanged';
  readonly person: PersonRecord;
  /** Public parts of keys whose rights changed with the person's: what caches know of them is stale. */
  readonly selectors: readonly string[];
}

const NEW_ROLE = 'developer';
const NOTHING_KNOWN: PersonMetadata = { external_sub: null, external_claims: {}, full_name: null, profile: {} };

/**
 * Makes or finds the person behind an identity, and writes down what the directory says of it now. The first one of a workspace finds a row for the
 * administrator made, which whoever has its address takes over. Others are made as developers, children of the administrator; they see all groups as
 * long as no mapping of tenants is saved, and none afterwards. Any number at once make one user.
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
  // Another request has made the person meanwhile.
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

/** Whoever is as the directory says is not even locked. */
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

/** What is to change; nothing where the row says it already. */
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
    // Who was made for a key signs in for the first time, as a new one does.
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

/** Those who find no administrator take turns: each looks again once the one before has made it. */
const TAKE_TURN = /* sql */ `select pg_advisory_xact_lock(hashtextextended('admin ' || app_workspace_id(), 0))`;

/**
 * The administrator of the workspace; where there is none, its row is made under this address and waits for the person, or the user who has the
 * address becomes the administrator. As long as nobody has taken the row over, another address replaces it; afterwards the administrator stays.
 * Needs an access without restriction.
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

/** The address of the administrator was another one while nobody had come: the mapping and the children go to the new row. */
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
