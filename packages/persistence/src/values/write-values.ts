import { type ValueRecord, type ValueType } from '@decision/contracts';
import { type Change } from '../audit/change';
import { recordChange } from '../audit/record-change';
import { changedNow } from '../connection/changed-now';
import { type Bindings, query, type Transaction } from '../connection/query';
import { writeUnlessTaken } from '../connection/unique-violation';
import { isUuid } from '../connection/uuid';
import { type DescribedRow } from '../resources/described-table';
import {
  findReferringValues,
  findValueUses,
  type ReferringValue,
  resolveContent,
  type AssetUse,
} from './value-references';
import { toValueRecord, valueColumns } from './values';

/** Values that an object generates are changed only by the object. */
export interface ManagedRefusal {
  readonly status: 'managed';
  /** Name of the first such value. */
  readonly name: string;
  readonly object: NonNullable<ValueRecord['managedBy']>;
}

/** Undefined if no object generates any of these values. */
export const refusalOf = (values: readonly ValueRecord[]): ManagedRefusal | undefined => {
  for (const { name, managedBy } of values) {
    if (managedBy !== null) return { status: 'managed', name, object: managedBy };
  }
  return undefined;
};

/** The desired state of a value. */
export interface SavedValue {
  readonly name: string;
  readonly type: ValueType;
  readonly content: unknown;
  /** Ids of the values to which the list refers; absent: none. */
  readonly refersTo?: readonly string[] | undefined;
  /** Absent: unchanged, or empty for a new value. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

export interface SaveValuesOptions {
  /** Groups of new values. A restricted access must name some of its own groups, at least one. */
  readonly newUserGroups: readonly string[];
  /** New groups of existing values; undefined: they keep theirs. */
  readonly userGroups?: readonly string[] | undefined;
  /** Whether each value is recorded as its own change, or the caller records them all as one. Default `each`. */
  readonly recorded?: 'each' | 'by_caller';
}

type SaveValuesOutcome =
  | {
      readonly status: 'saved';
      readonly created: number;
      readonly updated: number;
      readonly values: readonly ValueRecord[];
    }
  /** A value that is not visible has one of the names. */
  | { readonly status: 'name_taken' }
  | ManagedRefusal;

/** Bindings of {@link writeGiven}, as rows. As JSON text in arrays: an enclosing document could not contain U+0000, which their contents may. */
export const GIVEN = /* sql */ `
  (select name, type, cast(content as json), cast(nullif(metadata, '') as json), cast(refers_to as uuid[])
   from unnest(cast(:names as text[]), cast(:types as text[]), cast(:contents as text[]), cast(:metadata as text[]), cast(:references as text[]))
     as given (name, type, content, metadata, refers_to)) as given (name, type, content, metadata, refers_to)`;

/** Bindings of {@link GIVEN}. */
export const writeGiven = (values: readonly SavedValue[]): Bindings => ({
  names: values.map(({ name }) => name),
  types: values.map(({ type }) => type),
  contents: values.map(({ content }) => JSON.stringify(content)),
  metadata: values.map(({ metadata }) => (metadata === undefined ? '' : JSON.stringify(metadata))),
  references: values.map(({ refersTo = [] }) => `{${refersTo.join(',')}}`),
});

/** In the order of names, so that two writers of the same values wait instead of deadlocking. */
const LOCK_BY_NAMES = /* sql */ `
  select ${valueColumns} from workspace_values where name = any (cast(:names as text[])) order by name for update of workspace_values`;

const UPDATE_GIVEN = /* sql */ `
  update workspace_values
  set type = given.type, content = given.content, metadata = coalesce(given.metadata, workspace_values.metadata),
    user_groups = coalesce(cast(:user_groups as text[]), user_groups), archived_at = null,
    managed_path = null, managed_member = null, refers_to = given.refers_to,
    ${changedNow()}, updated_by = app_actor()
  from ${GIVEN}
  where workspace_values.name = given.name
  returning ${valueColumns}`;

const INSERT = /* sql */ `
  insert into workspace_values (name, type, content, metadata, refers_to, user_groups, created_at, updated_at)
  select name, type, content, coalesce(metadata, '{}'), refers_to, cast(:user_groups as text[]), moment, moment
  from ${GIVEN}, clock_timestamp() as moment
  order by name
  returning ${valueColumns}`;

/** Creates the values whose names are new and changes the others, all or none; archived ones become active again. */
export const saveValues = async (
  transaction: Transaction,
  values: readonly SavedValue[],
  { newUserGroups, userGroups, recorded = 'each' }: SaveValuesOptions,
): Promise<SaveValuesOutcome> => {
  const rows = await query<DescribedRow>(transaction, LOCK_BY_NAMES, { names: values.map(({ name }) => name) });
  const locked = rows.map(toValueRecord);
  const refusal = refusalOf(locked);
  if (refusal !== undefined) return refusal;
  const known = new Map(locked.map((value) => [value.name, value]));
  const [changing, making] = [
    values.filter(({ name }) => known.has(name)),
    values.filter(({ name }) => !known.has(name)).sort((a, b) => (a.name < b.name ? -1 : 1)),
  ];
  const inserting = await writeUnlessTaken(transaction, (savepoint) =>
    making.length === 0
      ? Promise.resolve([])
      : query<DescribedRow>(savepoint, INSERT, { ...writeGiven(making), user_groups: newUserGroups }),
  );
  if (inserting.status === 'taken') return { status: 'name_taken' };
  const updated =
    changing.length === 0
      ? []
      : await query<DescribedRow>(transaction, UPDATE_GIVEN, {
          ...writeGiven(changing),
          user_groups: userGroups ?? null,
        });
  const saved = [...inserting.value, ...updated].map(toValueRecord);
  if (recorded === 'each') {
    await recordChange(
      transaction,
      saved.map((after) => toChange(known.get(after.name), after)),
    );
  }
  return {
    status: 'saved',
    created: inserting.value.length,
    updated: updated.length,
    values: saved,
  };
};

const toChange = (before: ValueRecord | undefined, after: ValueRecord): Change => ({
  kind: 'value',
  action: before === undefined ? 'create' : 'update',
  id: after.id,
  name: after.name,
  userGroups: after.userGroups,
  before,
  after,
});

/** Changes; absent parts stay unchanged. */
interface ValueChanges {
  readonly name?: string | undefined;
  /** Type and content change together. */
  readonly content?:
    { readonly type: ValueType; readonly value: unknown; readonly refersTo: readonly string[] } | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly userGroups?: readonly string[] | undefined;
  readonly archived?: boolean | undefined;
}

type UpdateValueOutcome =
  | { readonly status: 'updated'; readonly value: ValueRecord }
  | { readonly status: 'not_found' }
  | ManagedRefusal
  /** Another value of the workspace has the name; it need not be visible. */
  | { readonly status: 'name_taken' };

const LOCK_VALUE = /* sql */ `
  select ${valueColumns} from workspace_values where id = cast(:id as uuid) for update of workspace_values`;

const lockValue = async (transaction: Transaction, id: string): Promise<ValueRecord | undefined> => {
  const [row] = isUuid(id) ? await query<DescribedRow>(transaction, LOCK_VALUE, { id }) : [];
  return row && toValueRecord(row);
};

const UPDATE = /* sql */ `
  update workspace_values
  set name = coalesce(:name, name), type = coalesce(:type, type), content = coalesce(cast(:content as json), content),
    metadata = coalesce(cast(:metadata as json), metadata), user_groups = coalesce(cast(:user_groups as text[]), user_groups),
    archived_at = case cast(:archived as boolean)
      when true then coalesce(archived_at, clock_timestamp()) when false then null else archived_at
    end,
    managed_path = null, managed_member = null, refers_to = coalesce(cast(:refers_to as uuid[]), refers_to),
    ${changedNow()}, updated_by = app_actor()
  where id = cast(:id as uuid)
  returning ${valueColumns}`;

/** Changes one value. Throws `forbidden` if a restricted access names groups that it does not have, or none. */
export const updateValue = async (
  transaction: Transaction,
  id: string,
  { name, content, metadata, userGroups, archived }: ValueChanges,
): Promise<UpdateValueOutcome> => {
  const locked = await lockValue(transaction, id);
  if (locked === undefined) return { status: 'not_found' };
  const refusal = refusalOf([locked]);
  if (refusal !== undefined) return refusal;
  const writing = await writeUnlessTaken(transaction, (savepoint) =>
    query<DescribedRow>(savepoint, UPDATE, {
      id,
      name: name ?? null,
      type: content?.type ?? null,
      content: content === undefined ? null : JSON.stringify(content.value),
      refers_to: content?.refersTo ?? null,
      metadata: metadata === undefined ? null : JSON.stringify(metadata),
      user_groups: userGroups ?? null,
      archived: archived ?? null,
    }),
  );
  if (writing.status === 'taken') return { status: 'name_taken' };
  const [row] = writing.value;
  if (row === undefined) return { status: 'not_found' };
  const value = toValueRecord(row);
  await recordChange(transaction, {
    ...{ kind: 'value', action: 'update', id, name: value.name, userGroups: value.userGroups },
    before: locked,
    after: value,
  });
  return { status: 'updated', value };
};

type DeleteValueOutcome =
  | {
      readonly status: 'deleted';
      readonly name: string;
      /** Lists that referred to the value, and now contain its content. */
      readonly updatedLists: readonly { readonly id: string; readonly name: string }[];
    }
  | { readonly status: 'not_found' }
  | ManagedRefusal
  | { readonly status: 'in_use'; readonly name: string; readonly uses: readonly AssetUse[] }
  /** Lists that the access may not see refer to it. */
  | { readonly status: 'referred_to'; readonly name: string; readonly hiddenLists: number };

const DELETE = /* sql */ `delete from workspace_values where id = cast(:id as uuid)`;

const REPLACE = /* sql */ `
  update workspace_values
  set content = cast(:content as json), refers_to = array_remove(refers_to, cast(:deleted as uuid)),
    ${changedNow()}, updated_by = app_actor()
  where id = cast(:id as uuid)
  returning user_groups`;

/**
 * Deletes a value that no rule or flow uses, in its draft or in a version that was ever published. In lists that refer to it, its content
 * replaces the reference.
 */
export const deleteValue = async (transaction: Transaction, id: string): Promise<DeleteValueOutcome> => {
  const locked = await lockValue(transaction, id);
  if (locked === undefined) return { status: 'not_found' };
  const refusal = refusalOf([locked]);
  if (refusal !== undefined) return refusal;
  const uses = await findValueUses(transaction, [id]);
  if (uses.length > 0) return { status: 'in_use', name: locked.name, uses };
  const referring = await findReferringValues(transaction, [id]);
  const hiddenLists = referring.filter(({ visible }) => visible === undefined).length;
  if (hiddenLists > 0) return { status: 'referred_to', name: locked.name, hiddenLists };
  const updatedLists = await replaceIn(transaction, referring, { id, content: locked.content });
  await query(transaction, DELETE, { id });
  const { name, userGroups } = locked;
  await recordChange(transaction, { kind: 'value', action: 'delete', id, name, userGroups, before: locked });
  return { status: 'deleted', name: locked.name, updatedLists };
};

const replaceIn = async (
  transaction: Transaction,
  referring: readonly ReferringValue[],
  deleted: { readonly id: string; readonly content: unknown },
): Promise<readonly { readonly id: string; readonly name: string }[]> => {
  const contentOf = new Map([[deleted.id, deleted.content]]);
  const updated: { readonly id: string; readonly name: string }[] = [];
  for (const { id, visible } of referring) {
    if (visible === undefined) continue;
    const content = JSON.stringify(resolveContent(visible.content, contentOf));
    const [list] = await query<{ user_groups: string[] }>(transaction, REPLACE, { id, content, deleted: deleted.id });
    const change = {
      kind: 'value',
      action: 'update',
      id,
      name: visible.name,
      userGroups: list?.user_groups ?? [],
    } as const;
    const [before, after] = [visible.content, JSON.parse(content) as unknown];
    await recordChange(transaction, { ...change, before: { content: before }, after: { content: after } });
    updated.push({ id, name: visible.name });
  }
  return updated;
};
