import { type ValueType } from '@decision/contracts';
import { countNames, recordChange } from '../audit/record-change';
import { changedNow } from '../connection/changed-now';
import { query, type Transaction } from '../connection/query';
import { GIVEN, type SavedValue, writeGiven } from './write-values';
import { objectName } from './values';

/** One run of a synchronisation, which may come in several chunks. */
interface SyncRun {
  /** Name of the collection: the names of its members start with it and a dot. */
  readonly collection: string;
  /** The client's id of the run. */
  readonly syncId: string;
  /** Groups that may continue it; a restricted access names its own. */
  readonly userGroups: readonly string[];
}

export type OpenSyncOutcome =
  | { readonly status: 'open'; readonly sync: string }
  /** It was completed before; nothing is left to do. */
  | { readonly status: 'completed' }
  /** A later run of the collection has started since, or the id is that of a run which the access may not see. */
  | { readonly status: 'superseded' };

/** Only one run of a collection proceeds at a time. Two collections with the same lock key wait for each other too. */
const TAKE_TURNS = /* sql */ `
  select pg_advisory_xact_lock(hashtextextended('value sync ' || app_workspace_id() || :collection, 0))`;

const FORGET = /* sql */ `
  delete from value_syncs where collection = :collection and sync_id <> :sync_id and changed_at < now() - interval '30 days'`;

const BEGIN = /* sql */ `
  insert into value_syncs (collection, sync_id, user_groups) values (:collection, :sync_id, cast(:user_groups as text[]))
  on conflict on constraint value_syncs_key do nothing
  returning id`;

const SUPERSEDE = /* sql */ `
  update value_syncs set state = 'superseded', changed_at = clock_timestamp()
  where collection = :collection and sync_id <> :sync_id and state = 'open'`;

const FIND = /* sql */ `select id, state from value_syncs where collection = :collection and sync_id = :sync_id`;

/** Blocks every other synchronisation of the collection until the transaction ends. */
export const takeTurns = async (transaction: Transaction, collection: string): Promise<void> => {
  await query(transaction, TAKE_TURNS, { collection });
};

/** Starts a run or continues it. A new run supersedes the open runs of the collection. The caller has called {@link takeTurns}. */
export const openSync = async (
  transaction: Transaction,
  { collection, syncId, userGroups }: SyncRun,
): Promise<OpenSyncOutcome> => {
  const run = { collection, sync_id: syncId };
  const [begun] = await query<{ id: string }>(transaction, BEGIN, { ...run, user_groups: userGroups });
  if (begun !== undefined) {
    await query(transaction, SUPERSEDE, run);
    await query(transaction, FORGET, run);
    return { status: 'open', sync: begun.id };
  }
  const [found] = await query<{ id: string; state: 'open' | 'completed' | 'superseded' }>(transaction, FIND, run);
  if (found === undefined) return { status: 'superseded' };
  return found.state === 'open' ? { status: 'open', sync: found.id } : { status: found.state };
};

const REMEMBER = /* sql */ `
  insert into value_sync_members (sync, name) select cast(:sync as uuid), name from unnest(cast(:names as text[])) as name
  on conflict do nothing`;
const TOUCH = /* sql */ `update value_syncs set changed_at = clock_timestamp() where id = cast(:sync as uuid)`;

/** Records the names of a chunk: completing the run keeps their members. */
export const rememberMembers = async (
  transaction: Transaction,
  sync: string,
  names: readonly string[],
): Promise<void> => {
  await query(transaction, REMEMBER, { sync, names });
  await query(transaction, TOUCH, { sync });
};

const COMPLETE = /* sql */ `
  update value_syncs set state = 'completed', changed_at = clock_timestamp() where id = cast(:sync as uuid)`;
const FORGET_MEMBERS = /* sql */ `delete from value_sync_members where sync = cast(:sync as uuid)`;

/** Ends a run; the names of its chunks are no longer needed. */
export const completeSync = async (transaction: Transaction, sync: string): Promise<void> => {
  await query(transaction, COMPLETE, { sync });
  await query(transaction, FORGET_MEMBERS, { sync });
};

/** Stored value of a name to be written. */
export interface ComparedValue {
  readonly id: string;
  readonly name: string;
  readonly type: ValueType;
  /** Whether writing would change it. */
  readonly differs: boolean;
  /** Null if it does not differ. */
  readonly content: unknown;
  /** The object that generates it. */
  readonly objectName: string | null;
}

/** Contents are compared as text: a different order of keys is a difference. */
const COMPARE = /* sql */ `
  select workspace_values.id, workspace_values.name, workspace_values.type, differs,
    case when differs then workspace_values.content end as content,
    case when object_id is not null then coalesce(${objectName}, '') end as "objectName"
  from ${GIVEN} join workspace_values on workspace_values.name = given.name
    cross join lateral (
      select archived_at is not null or workspace_values.type <> given.type
        or cast(workspace_values.content as text) <> cast(given.content as text)
        or cast(workspace_values.metadata as text) <> coalesce(cast(given.metadata as text), cast(workspace_values.metadata as text))
        or workspace_values.user_groups <> coalesce(cast(:user_groups as text[]), workspace_values.user_groups) as differs
    ) as comparison
  order by workspace_values.name
  for update of workspace_values`;

/** The visible values of these names, by name, locked against other writers until the transaction ends. */
export const compareValues = (
  transaction: Transaction,
  values: readonly SavedValue[],
  userGroups: readonly string[] | undefined,
): Promise<readonly ComparedValue[]> =>
  values.length === 0
    ? Promise.resolve([])
    : query<ComparedValue>(transaction, COMPARE, { ...writeGiven(values), user_groups: userGroups ?? null });

type Named = readonly { readonly name: string }[];

/** Changes of one request of a synchronisation. */
interface SyncChange {
  readonly collection: string;
  /** Null for a request that contains the whole collection. */
  readonly syncId: string | null;
  /** Groups of the members that it created. */
  readonly userGroups: readonly string[];
  readonly created: Named;
  readonly updated: Named;
  readonly archived: Named;
  readonly deleted: Named;
}

/** Records a request of a synchronisation as one change with counts and the first names, for any number of members; no entry without a change. */
export const recordSync = async (
  transaction: Transaction,
  { collection, syncId, userGroups, created, updated, archived, deleted }: SyncChange,
): Promise<void> => {
  if (created.length + updated.length + archived.length + deleted.length === 0) return;
  await recordChange(transaction, {
    ...{ kind: 'value', action: 'sync', id: collection, name: collection, userGroups },
    after: {
      syncId,
      created: countNames(created),
      updated: countNames(updated),
      archived: countNames(archived),
      deleted: countNames(deleted),
    },
  });
};

/** A member of a collection that is missing from a synchronisation. */
export interface AbsentMember {
  readonly id: string;
  readonly name: string;
  readonly archived: boolean;
}

/** Members that were sent: by the chunks of a run, or by one request alone. */
export type PresentMembers = { readonly sync: string } | { readonly names: readonly string[] };

/**
 * As a difference of sets, which is computed by hash or by order whatever the planner assumes. A join compared each member with each
 * present name if the statistics covered only other runs.
 */
const absentNames = (present: string): string => /* sql */ `
  select name from workspace_values where starts_with(name, :beginning) and object_id is null
  except select name from ${present}`;

const ABSENT_FROM_RUN = absentNames('value_sync_members where sync = cast(:sync as uuid)');
const ABSENT_FROM_REQUEST = absentNames('unnest(cast(:names as text[])) as present (name)');

const LOCK_ABSENT = /* sql */ `
  select id, name, archived_at is not null as archived from workspace_values
  where name = any (cast(:names as text[])) and object_id is null
  order by name for update of workspace_values`;

/** The visible members that were not sent, including archived ones, by name. Values that objects generate do not belong to the collection. */
export const findAbsentMembers = async (
  transaction: Transaction,
  collection: string,
  present: PresentMembers,
): Promise<readonly AbsentMember[]> => {
  const beginning = `${collection}.`;
  const absent =
    'sync' in present
      ? await query<{ name: string }>(transaction, ABSENT_FROM_RUN, { beginning, sync: present.sync })
      : await query<{ name: string }>(transaction, ABSENT_FROM_REQUEST, { beginning, names: present.names });
  const names = absent.map(({ name }) => name);
  return names.length === 0 ? [] : query<AbsentMember>(transaction, LOCK_ABSENT, { names });
};

const ARCHIVE = /* sql */ `
  update workspace_values
  set archived_at = clock_timestamp(), ${changedNow()},
    updated_by = app_actor()
  where id = any (cast(:ids as uuid[])) and archived_at is null`;

const DELETE = /* sql */ `delete from workspace_values where id = any (cast(:ids as uuid[]))`;

/** The caller has locked them, and records the change with `recordSync`. */
export const archiveValues = async (transaction: Transaction, ids: readonly string[]): Promise<void> => {
  if (ids.length > 0) await query(transaction, ARCHIVE, { ids });
};

/** The caller has locked them, ensured that nothing uses them, and records the change with `recordSync`. */
export const deleteValues = async (transaction: Transaction, ids: readonly string[]): Promise<void> => {
  if (ids.length > 0) await query(transaction, DELETE, { ids });
};
