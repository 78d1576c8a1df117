import { type ValueType } from '@decision/contracts';
import { type Change } from '../audit/change';
import { recordChange } from '../audit/record-change';
import { type Bindings, query, type Transaction } from '../connection/query';
import { writeUnlessTaken } from '../connection/unique-violation';
import { type ManagedRefusal, refusalOf } from './managed-refusal';
import { toValueRecord, valueColumns, type ValueRecord, type ValueRow } from './value-record';

/** A value as it is to be. */
export interface SavedValue {
  readonly name: string;
  readonly type: ValueType;
  readonly content: unknown;
  /** Ids of the values to which the list refers; absent: none. */
  readonly refersTo?: readonly string[] | undefined;
  /** Absent: stays as it is, or empty for a new value. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

export interface SaveValuesOptions {
  /** Groups of new values. A restricted access must name groups of its own, at least one. */
  readonly newUserGroups: readonly string[];
  /** Groups that values which exist get; undefined: they keep theirs. */
  readonly userGroups?: readonly string[] | undefined;
  /** Whether each value is recorded as a change of its own, or the caller records them all as one. Default `each`. */
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

/** Bindings of {@link writeGiven}, as rows. As JSON text in arrays: a document around them could not hold U+0000, which their contents may. */
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

/** In the order of names, so that two writers of the same values wait for each other instead of meeting head on. */
const LOCK = /* sql */ `
  select ${valueColumns} from workspace_values where name = any (cast(:names as text[])) order by name for update of workspace_values`;

const UPDATE = /* sql */ `
  update workspace_values
  set type = given.type, content = given.content, metadata = coalesce(given.metadata, workspace_values.metadata),
    user_groups = coalesce(cast(:user_groups as text[]), user_groups), archived_at = null,
    managed_path = null, managed_member = null, refers_to = given.refers_to,
    updated_at = greatest(clock_timestamp(), updated_at + interval '1 millisecond'), updated_by = app_actor()
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
  const locked = await query<ValueRow>(transaction, LOCK, { names: values.map(({ name }) => name) });
  const refusal = refusalOf(locked);
  if (refusal !== undefined) return refusal;
  const known = new Map(locked.map((row) => [row.name, toValueRecord(row)]));
  const [changing, making] = [
    values.filter(({ name }) => known.has(name)),
    values.filter(({ name }) => !known.has(name)).sort((a, b) => (a.name < b.name ? -1 : 1)),
  ];
  const inserting = await writeUnlessTaken(transaction, (savepoint) =>
    making.length === 0
      ? Promise.resolve([])
      : query<ValueRow>(savepoint, INSERT, { ...writeGiven(making), user_groups: newUserGroups }),
  );
  if (inserting.status === 'taken') return { status: 'name_taken' };
  const updated =
    changing.length === 0
      ? []
      : await query<ValueRow>(transaction, UPDATE, { ...writeGiven(changing), user_groups: userGroups ?? null });
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
