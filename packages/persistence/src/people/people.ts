import { isDeepStrictEqual } from 'node:util';
import { ServiceError } from '@decision/contracts';
import { type Change } from '../audit/change';
import { recordChange } from '../audit/record-change';
import { type Bindings, query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { recordKeysOfNewUser } from '../keys/api-keys';

/** The data of a directory at the person's last sign-in, and the result of a mapping. */
export interface PersonMetadata {
  /** Id in the directory; null if it provided none. */
  readonly external_sub: string | null;
  /** Every claim, unchanged. */
  readonly external_claims: Readonly<Record<string, unknown>>;
  readonly full_name: string | null;
  /** Fields that the administrator's mapping filled. */
  readonly profile: Readonly<Record<string, unknown>>;
}

/** A person who signs in. Moments are ISO 8601 UTC. */
export interface PersonRecord {
  readonly id: string;
  readonly workspaceId: string;
  /** As it was first written. */
  readonly email: string;
  readonly name: string | null;
  readonly role: string;
  /** Empty: the person sees nothing, unless `allGroups`. */
  readonly userGroups: readonly string[];
  /** Not restricted to groups. */
  readonly allGroups: boolean;
  /** The single administrator of the workspace, the parent of all others. */
  readonly isAdmin: boolean;
  /** The row is a placeholder until the person with its address signs in. */
  readonly isPlaceholder: boolean;
  /** The administrator; null for the administrator, and for users who never signed in. */
  readonly parentId: string | null;
  /** Since when the person is disabled; null: enabled. */
  readonly disabledAt: string | null;
  readonly metadata: PersonMetadata;
}

interface PersonRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly email: string;
  readonly name: string | null;
  readonly role: string;
  readonly user_groups: string[];
  readonly all_groups: boolean;
  readonly is_admin: boolean;
  readonly is_placeholder: boolean;
  readonly parent_id: string | null;
  readonly disabled_at: Date | null;
  readonly user_metadata: Partial<PersonMetadata>;
}

const COLUMNS = /* sql */ `
  users.id, users.workspace_id, users.email, users.name, users.role, users.user_groups, users.all_groups, users.is_admin, users.is_placeholder,
  users.parent_id, users.disabled_at, users.user_metadata`;

const toPerson = (row: PersonRow): PersonRecord => ({
  ...{ id: row.id, workspaceId: row.workspace_id, email: row.email, name: row.name, role: row.role },
  ...{ userGroups: row.user_groups, allGroups: row.all_groups, isAdmin: row.is_admin },
  ...{ isPlaceholder: row.is_placeholder, parentId: row.parent_id },
  disabledAt: row.disabled_at?.toISOString() ?? null,
  metadata: {
    external_sub: row.user_metadata.external_sub ?? null,
    external_claims: row.user_metadata.external_claims ?? {},
    full_name: row.user_metadata.full_name ?? null,
    profile: row.user_metadata.profile ?? {},
  },
});

const BY_ID = /* sql */ `select ${COLUMNS} from users where id = cast(:id as uuid)`;
const ADMIN = /* sql */ `select ${COLUMNS} from users where id = app_admin_id()`;
const BY_EMAIL = /* sql */ `select ${COLUMNS} from users where id = find_user_by_email(:email)`;
const LOCK = /* sql */ `${BY_ID} for update`;
const INSERT = /* sql */ `
  insert into users (email, name, role, all_groups, is_admin, is_placeholder, parent_id, user_metadata)
  values (:email, :name, :role, :all_groups, :is_admin, :is_placeholder, cast(:parent_id as uuid), cast(:metadata as json))
  on conflict do nothing
  returning ${COLUMNS}`;
const CHANGE = /* sql */ `
  update users
  set name = :name, role = :role, user_groups = cast(:user_groups as text[]), all_groups = :all_groups, is_admin = :is_admin,
    is_placeholder = :is_placeholder, parent_id = cast(:parent_id as uuid), user_metadata = cast(:metadata as json)
  where id = cast(:id as uuid)
  returning ${COLUMNS}`;
const FOLLOW = /* sql */ `select selector from follow_user(cast(:id as uuid))`;

const one = async (
  transaction: Transaction,
  sql: string,
  bindings: Bindings = {},
): Promise<PersonRecord | undefined> => {
  const [row] = await query<PersonRow>(transaction, sql, bindings);
  return row && toPerson(row);
};

/** The person of an id; undefined if none is visible. A person sees its own row. */
export const findPerson = async (transaction: Transaction, userId: string): Promise<PersonRecord | undefined> =>
  isUuid(userId) ? one(transaction, BY_ID, { id: userId }) : undefined;

/** The administrator of the workspace; undefined if there is none yet, or the row is not visible. */
export const findAdmin = (transaction: Transaction): Promise<PersonRecord | undefined> => one(transaction, ADMIN);

/**
 * Finds the person with an address, ignoring case. Throws `forbidden`, with the reason `email_ambiguous`, if the database matches it with
 * the address of a person that has other letters: a Kelvin sign folds to k, and is a different letter.
 */
export const findPersonByEmail = async (transaction: Transaction, email: string): Promise<PersonRecord | undefined> => {
  const person = await one(transaction, BY_EMAIL, { email });
  if (person === undefined || isSameEmail(person.email, email)) return person;
  throw new ServiceError(
    'forbidden',
    'The e-mail address cannot be distinguished from that of another person; ask an administrator.',
    { reason: 'email_ambiguous' },
  );
};

/** Whether two addresses differ at most in the case of letters, not in other letters that merely fold to the same one. */
export const isSameEmail = (one: string, other: string): boolean =>
  one.toLowerCase() === other.toLowerCase() && one.toUpperCase() === other.toUpperCase();

/** As {@link findPerson}, locked until the transaction ends. */
export const lockPerson = async (transaction: Transaction, userId: string): Promise<PersonRecord | undefined> =>
  isUuid(userId) ? one(transaction, LOCK, { id: userId }) : undefined;

/** A row to be created. */
type NewPerson = Omit<PersonRecord, 'id' | 'workspaceId' | 'userGroups' | 'disabledAt'>;

/** Creates a person; undefined if the address, or the position of the administrator, is taken. */
export const insertPerson = async (transaction: Transaction, person: NewPerson): Promise<PersonRecord | undefined> => {
  const made = await one(transaction, INSERT, { ...bind(person), email: person.email });
  if (made === undefined) return undefined;
  await recordChange(transaction, changeOf('create', undefined, made));
  await recordKeysOfNewUser(transaction, made.id);
  return made;
};

/** A person with the selectors of the keys that changed with it, whose cache entries are stale. */
export interface ChangedPerson {
  readonly person: PersonRecord;
  readonly selectors: readonly string[];
}

/** Possible changes of a locked row. */
export type PersonChanges = Partial<Omit<PersonRecord, 'id' | 'workspaceId' | 'email' | 'disabledAt'>>;

/** Changes a locked row, and the keys of the person with it. A change of claims alone leaves no entry in the audit: they differ with each token. */
export const changePerson = async (
  transaction: Transaction,
  before: PersonRecord,
  changes: PersonChanges,
  action = 'update',
): Promise<ChangedPerson> => {
  const wanted = { ...before, ...changes };
  if (isDeepStrictEqual(wanted, before)) return { person: before, selectors: [] };
  const bindings = { ...bind(wanted), id: before.id, user_groups: [...wanted.userGroups] };
  const person = (await one(transaction, CHANGE, bindings)) ?? before;
  if (!isDeepStrictEqual(auditedOf(before), auditedOf(person)))
    await recordChange(transaction, changeOf(action, before, person));
  return { person, selectors: await followPerson(transaction, before, person) };
};

const followPerson = async (
  transaction: Transaction,
  before: PersonRecord,
  after: PersonRecord,
): Promise<readonly string[]> => {
  const rights = ({ role, userGroups, allGroups }: PersonRecord) => ({ role, userGroups, allGroups });
  if (isDeepStrictEqual(rights(before), rights(after))) return [];
  const keys = await query<{ selector: string }>(transaction, FOLLOW, { id: after.id });
  return keys.map(({ selector }) => selector);
};

const bind = (person: Omit<NewPerson, 'email'>): Bindings => ({
  ...{ name: person.name, role: person.role, all_groups: person.allGroups, is_admin: person.isAdmin },
  ...{ is_placeholder: person.isPlaceholder, parent_id: person.parentId, metadata: JSON.stringify(person.metadata) },
});

/** The audit's view of a person. */
const auditedOf = ({ id: _, workspaceId: _workspace, metadata, ...rest }: PersonRecord): object => ({
  ...rest,
  externalSub: metadata.external_sub,
  profile: metadata.profile,
});

const changeOf = (action: string, before: PersonRecord | undefined, after: PersonRecord): Change => ({
  ...{ kind: 'user', action, id: after.id, name: after.email, userGroups: after.userGroups },
  before: before && auditedOf(before),
  after: auditedOf(after),
});
