import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';

/** A role and its entitlements. */
export interface RoleRecord {
  readonly name: string;
  readonly entitlements: readonly string[];
  /** Created and updated by the service; never changed through {@link saveRole}. */
  readonly builtIn: boolean;
}

interface RoleRow {
  readonly name: string;
  readonly entitlements: string[];
  readonly built_in: boolean;
}

const toRecord = (row: RoleRow): RoleRecord => ({
  name: row.name,
  entitlements: row.entitlements,
  builtIn: row.built_in,
});

const LIST = /* sql */ `select name, entitlements, built_in from roles order by name`;
const FIND = /* sql */ `select name, entitlements, built_in from roles where name = :name`;
const SAVE = /* sql */ `
  insert into roles (name, entitlements, built_in) values (:name, cast(:entitlements as text[]), false)
  on conflict (workspace_id, name) do update set entitlements = excluded.entitlements`;
const RELEASE = /* sql */ `select release_role(:name) as holders`;
const SELECTORS = /* sql */ `select selector from find_role_selectors(:name)`;
const DELETE = /* sql */ `delete from roles where name = :name returning name`;

/**
 * Transactions that assign a role and those that change or delete it lock its name in turn: the rows of roles cannot be locked by an access
 * that may only assign them. Two roles with the same lock key wait for each other too.
 */
const turn = (shared: '_shared' | ''): string => /* sql */ `
  select pg_advisory_xact_lock${shared}(hashtextextended('role ' || app_workspace_id() || ' ' || :name, 0))`;
const TO_GIVE = turn('_shared');
const TO_CHANGE = turn('');

/** Every role of the workspace, by name. */
export const listRoles = async (transaction: Transaction): Promise<readonly RoleRecord[]> =>
  (await query<RoleRow>(transaction, LIST)).map(toRecord);

/** The role of this name; undefined if the workspace has none. */
export const findRole = async (transaction: Transaction, name: string): Promise<RoleRecord | undefined> => {
  const [row] = await query<RoleRow>(transaction, FIND, { name });
  return row && toRecord(row);
};

/** The role as {@link findRole} finds it, locked until the transaction ends: for assigning it to a key or a user. */
export const holdRole = async (transaction: Transaction, name: string): Promise<RoleRecord | undefined> => {
  await query(transaction, TO_GIVE, { name });
  return findRole(transaction, name);
};

type SaveRoleOutcome =
  | {
      readonly status: 'saved';
      readonly role: RoleRecord;
      /** Selectors of the live keys with the role, whose cache entries are stale. */
      readonly selectors: readonly string[];
    }
  | { readonly status: 'built_in' };

/** Creates or changes a custom role. */
export const saveRole = async (
  transaction: Transaction,
  { name, entitlements }: Pick<RoleRecord, 'name' | 'entitlements'>,
): Promise<SaveRoleOutcome> => {
  await query(transaction, TO_CHANGE, { name });
  const before = await findRole(transaction, name);
  if (before?.builtIn === true) return { status: 'built_in' };
  await query(transaction, SAVE, { name, entitlements });
  const role = { name, entitlements, builtIn: false };
  const action = before ? 'update' : 'create';
  await recordChange(transaction, { kind: 'role', action, id: name, name, before, after: role });
  const keys = await query<{ selector: string }>(transaction, SELECTORS, { name });
  return { status: 'saved', role, selectors: keys.map(({ selector }) => selector) };
};

type DeleteRoleOutcome =
  | { readonly status: 'deleted' }
  | { readonly status: 'not_found' }
  | { readonly status: 'built_in' }
  /** Number of live keys, users and invitations that have it. */
  | { readonly status: 'in_use'; readonly holders: number };

/** Deletes an unused custom role. Dead keys do not keep a role in use: they become viewers. */
export const deleteRole = async (transaction: Transaction, name: string): Promise<DeleteRoleOutcome> => {
  await query(transaction, TO_CHANGE, { name });
  const before = await findRole(transaction, name);
  if (before === undefined) return { status: 'not_found' };
  if (before.builtIn) return { status: 'built_in' };
  const [counted] = await query<{ holders: number }>(transaction, RELEASE, { name });
  if (counted !== undefined && counted.holders > 0) return { status: 'in_use', holders: counted.holders };
  if ((await query(transaction, DELETE, { name })).length === 0) return { status: 'not_found' };
  await recordChange(transaction, { kind: 'role', action: 'delete', id: name, name, before });
  return { status: 'deleted' };
};
