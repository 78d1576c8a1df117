import { type ValueRecord, type ValueType } from '@decision/contracts';
import { countNames, recordChange } from '../audit/record-change';
import { changedNow } from '../connection/changed-now';
import { type Bindings, query, type Transaction } from '../connection/query';
import { writeUnlessTaken } from '../connection/unique-violation';

/** The part of an object that a value represents. */
export interface ManagedKey {
  /** The field. */
  readonly path: string;
  /** The member as JSON text; empty for the collection of the field. */
  readonly member: string;
}

/** A value that an object generates. */
export interface ManagedValue extends ManagedKey, Pick<ValueRecord, 'id' | 'name' | 'content' | 'metadata'> {
  readonly type: Exclude<ValueType, 'function'>;
  readonly archived: boolean;
}

/** New state of a value of an object, which becomes active. */
export interface ManagedChange extends Omit<ManagedValue, 'archived'> {
  /** Whether it was archived. */
  readonly revived: boolean;
  readonly renamed: boolean;
}

/** All changes of an object's values. */
export interface ValuePlan {
  readonly create: readonly Omit<ManagedValue, 'id' | 'archived'>[];
  readonly change: readonly ManagedChange[];
  /** Number of unchanged values. */
  readonly unchanged: number;
  readonly archive: readonly { readonly id: string; readonly name: string }[];
  /** Values that give up a name that another needs. They are archived, and no longer belong to the object. */
  readonly release: readonly { readonly id: string; readonly name: string }[];
}

type ManagedRow = Omit<ManagedValue, 'path' | 'member' | 'archived'> & {
  readonly managed_path: string;
  readonly managed_member: string;
  readonly archived: boolean;
};

const MANAGED = 'id, name, type, content, metadata, managed_path, managed_member, archived_at is not null as archived';

/** In the order of names, as every writer of several values locks them. */
const OF_OBJECT = /* sql */ `
  select ${MANAGED} from workspace_values where object_id = cast(:object_id as uuid) order by name`;

/** Archived values that other objects left when they were deleted. */
const LEFT_BEHIND = /* sql */ `
  select ${MANAGED} from workspace_values
  where name = any (cast(:names as text[])) and object_id is null and managed_path is not null and archived_at is not null
  order by name`;

const TAKEN = /* sql */ `
  select taken.name, workspace_values.id
  from find_taken_value_names(cast(:names as text[])) as taken
    left join workspace_values on workspace_values.name = taken.name
  order by taken.name`;

/** Whether the values are only read, or locked against other writers until the transaction ends. */
type ManagedPurpose = 'read' | 'change';

const LOCKS: Readonly<Record<ManagedPurpose, string>> = { read: '', change: 'for update' };

/** The values of an object, including archived ones, by name. */
export const findManagedValues = async (
  transaction: Transaction,
  objectId: string,
  purpose: ManagedPurpose,
): Promise<readonly ManagedValue[]> =>
  (await query<ManagedRow>(transaction, `${OF_OBJECT} ${LOCKS[purpose]}`, { object_id: objectId })).map(toManagedValue);

/** Values of these names that deleted objects left archived and that are unchanged since. */
export const findLeftValues = async (
  transaction: Transaction,
  names: readonly string[],
  purpose: ManagedPurpose,
): Promise<readonly ManagedValue[]> =>
  names.length === 0
    ? []
    : (await query<ManagedRow>(transaction, `${LEFT_BEHIND} ${LOCKS[purpose]}`, { names })).map(toManagedValue);

/** The name of an existing value. */
export interface TakenName {
  readonly name: string;
  /** Undefined if the value is not visible. */
  readonly id: string | undefined;
}

/** The names, among these, that values of the workspace have, visible or not. */
export const findTakenNames = async (
  transaction: Transaction,
  names: readonly string[],
): Promise<readonly TakenName[]> =>
  names.length === 0
    ? []
    : (await query<{ name: string; id: string | null }>(transaction, TAKEN, { names })).map(({ name, id }) => ({
        name,
        id: id ?? undefined,
      }));

const toManagedValue = ({ managed_path: path, managed_member: member, ...value }: ManagedRow): ManagedValue => ({
  ...value,
  path,
  member,
});

/** The use, by the draft of a rule, of a value that its object no longer generates. */
export interface ArchivedUse {
  readonly ruleId: string;
  readonly valueId: string;
  readonly name: string;
  /** Undefined if the object was deleted. */
  readonly object: { readonly id: string; readonly name: string } | undefined;
}

interface ArchivedUseRow {
  readonly rule_id: string;
  readonly value_id: string;
  readonly name: string;
  readonly object_id: string | null;
  readonly object_name: string | null;
}

const FIND = /* sql */ `
  select assets.id as rule_id, workspace_values.id as value_id, workspace_values.name,
    workspace_objects.id as object_id, workspace_objects.name as object_name
  from assets
    join workspace_values on workspace_values.id = any (assets.value_ids)
    left join workspace_objects on workspace_objects.id = workspace_values.object_id
  where assets.id = any (cast(:rule_ids as uuid[]))
    and workspace_values.archived_at is not null and workspace_values.managed_path is not null
  order by workspace_values.name`;

/** Archived values of objects that drafts of these rules use, as far as the access sees rules and values. */
export const findArchivedUses = async (
  transaction: Transaction,
  ruleIds: readonly string[],
): Promise<readonly ArchivedUse[]> =>
  ruleIds.length === 0
    ? []
    : (await query<ArchivedUseRow>(transaction, FIND, { rule_ids: ruleIds })).map(
        ({ rule_id, value_id, name, object_id, object_name }) => ({
          ruleId: rule_id,
          valueId: value_id,
          name,
          object: object_id === null ? undefined : { id: object_id, name: object_name ?? '' },
        }),
      );

/** The object whose values are written. */
export interface ValueOwner {
  readonly id: string;
  readonly userGroups: readonly string[];
}

type WriteManagedValuesOutcome =
  | { readonly status: 'written' }
  /** A value that the object does not own has one of the names. */
  | { readonly status: 'name_taken' };

const NAME = /* sql */ `select name from workspace_objects where id = cast(:id as uuid)`;

const TOUCHED = `${changedNow('workspace_values')}, updated_by = app_actor()`;

/** Values of an object have its groups, including archived ones. */
const SET_GROUPS = /* sql */ `
  update workspace_values set user_groups = cast(:user_groups as text[]), ${TOUCHED}
  where object_id = cast(:object_id as uuid) and user_groups <> cast(:user_groups as text[])`;

const RELEASE = /* sql */ `
  update workspace_values
  set name = given.name, object_id = null, managed_path = null, managed_member = null,
    archived_at = coalesce(archived_at, clock_timestamp()), ${TOUCHED}
  from unnest(cast(:ids as uuid[]), cast(:names as text[])) as given (id, name)
  where workspace_values.id = given.id`;

const ARCHIVE = /* sql */ `
  update workspace_values set archived_at = clock_timestamp(), ${TOUCHED}
  where id = any (cast(:ids as uuid[])) and archived_at is null`;

/** Within one change, names that pass from value to value are free in between. */
const FREE_NAMES = /* sql */ `
  update workspace_values set name = cast(id as text) where id = any (cast(:ids as uuid[]))`;

const CHANGE = /* sql */ `
  update workspace_values
  set name = given.name, content = cast(given.content as json), metadata = cast(given.metadata as json),
    managed_path = given.path, object_id = cast(:object_id as uuid), user_groups = cast(:user_groups as text[]),
    archived_at = null, ${TOUCHED}
  from unnest(cast(:ids as uuid[]), cast(:names as text[]), cast(:contents as text[]), cast(:metadata as text[]), cast(:paths as text[]))
    as given (id, name, content, metadata, path)
  where workspace_values.id = given.id`;

const CREATE = /* sql */ `
  insert into workspace_values
    (name, type, content, metadata, user_groups, object_id, managed_path, managed_member, created_at, updated_at)
  select given.name, given.type, cast(given.content as json), cast(given.metadata as json), cast(:user_groups as text[]),
    cast(:object_id as uuid), given.path, given.member, moment, moment
  from unnest(cast(:names as text[]), cast(:types as text[]), cast(:contents as text[]), cast(:metadata as text[]), cast(:paths as text[]),
      cast(:members as text[])) as given (name, type, content, metadata, path, member),
    clock_timestamp() as moment
  order by given.name`;

/**
 * Carries out a plan and records it as one change of the object; each step is one statement for any number of values. The caller has locked
 * the object and its values.
 */
export const writeManagedValues = async (
  transaction: Transaction,
  owner: ValueOwner,
  { create, change, archive, release }: ValuePlan,
): Promise<WriteManagedValuesOutcome> => {
  const ownerBindings = { object_id: owner.id, user_groups: owner.userGroups };
  await query(transaction, SET_GROUPS, ownerBindings);
  await writeSome(transaction, ARCHIVE, archive, () => ({ ids: idsOf(archive) }));
  await writeSome(transaction, RELEASE, release, () => ({ ids: idsOf(release), names: namesOf(release) }));
  const renamed = change.filter((value) => value.renamed);
  const written = await writeUnlessTaken(transaction, async (savepoint) => {
    await writeSome(savepoint, FREE_NAMES, renamed, () => ({ ids: idsOf(renamed) }));
    await writeSome(savepoint, CHANGE, change, () => ({ ...ownerBindings, ids: idsOf(change), ...columnsOf(change) }));
    await writeSome(savepoint, CREATE, create, () => ({
      ...ownerBindings,
      ...columnsOf(create),
      types: create.map(({ type }) => type),
      members: create.map(({ member }) => member),
    }));
  });
  if (written.status === 'taken') return { status: 'name_taken' };
  await recordPlan(transaction, owner, { create, change, archive, release });
  return { status: 'written' };
};

/** One entry for any number of values: each follows from the object's content, which has its own entry. */
const recordPlan = async (
  transaction: Transaction,
  { id, userGroups }: ValueOwner,
  { create, change, archive, release }: Omit<ValuePlan, 'unchanged'>,
): Promise<void> => {
  if (create.length + change.length + archive.length + release.length === 0) return;
  const [owner] = await query<{ name: string }>(transaction, NAME, { id });
  if (owner === undefined) return;
  const after = {
    created: countNames(create),
    changed: countNames(change),
    archived: countNames(archive),
    released: countNames(release),
  };
  await recordChange(transaction, { kind: 'object', action: 'write_values', id, name: owner.name, userGroups, after });
};

const writeSome = async (
  transaction: Transaction,
  statement: string,
  given: readonly unknown[],
  bindings: () => Bindings,
): Promise<void> => {
  if (given.length > 0) await query(transaction, statement, bindings());
};

const idsOf = (given: readonly { readonly id: string }[]): readonly string[] => given.map(({ id }) => id);
const namesOf = (given: readonly { readonly name: string }[]): readonly string[] => given.map(({ name }) => name);

const columnsOf = (given: readonly Pick<ManagedChange, 'name' | 'content' | 'metadata' | 'path'>[]) => ({
  names: namesOf(given),
  contents: given.map(({ content }) => JSON.stringify(content)),
  metadata: given.map(({ metadata }) => JSON.stringify(metadata)),
  paths: given.map(({ path }) => path),
});
