import { countNames } from '../audit/count-names';
import { recordChange } from '../audit/record-change';
import { type Bindings, query, type Transaction } from '../connection/query';
import { writeUnlessTaken } from '../connection/unique-violation';
import { type ManagedChange, type ValuePlan } from './managed-value';

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

const TOUCHED = `updated_at = greatest(clock_timestamp(), workspace_values.updated_at + interval '1 millisecond'), updated_by = app_actor()`;

/** Values of an object have its groups, archived ones too. */
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

/** Names that pass from value to value within one change are free in between. */
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

/** Carries out a plan and records it as one change of the object; each step is one statement, whatever the number of values. The caller has locked the object and its values. */
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

/** One entry, however many values: each follows from the object's content, which has an entry of its own. */
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
