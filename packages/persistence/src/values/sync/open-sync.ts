import { query, type Transaction } from '../../connection/query';

/** One run of a synchronisation, which may come in several chunks. */
interface SyncRun {
  /** Name of the collection: its members' names begin with it and a dot. */
  readonly collection: string;
  /** As the client calls the run. */
  readonly syncId: string;
  /** Groups that may carry on with it; a restricted access names its own. */
  readonly userGroups: readonly string[];
}

export type OpenSyncOutcome =
  | { readonly status: 'open'; readonly sync: string }
  /** It was completed before; nothing is left to do. */
  | { readonly status: 'completed' }
  /** A later run of the collection has begun since, or the id is that of a run which the access may not see. */
  | { readonly status: 'superseded' };

/** All runs of one collection take turns. The key only keeps them apart: two collections that share one wait for each other. */
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

/** Keeps every other synchronisation of the collection waiting until the transaction ends. */
export const takeTurns = async (transaction: Transaction, collection: string): Promise<void> => {
  await query(transaction, TAKE_TURNS, { collection });
};

/** Begins a run or carries on with it. A run that begins supersedes those of the collection that are open. The caller has its turn. */
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

/** Notes names that a chunk brought: completing the run leaves them. */
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

/** Ends a run; what its chunks brought need not be known any more. */
export const completeSync = async (transaction: Transaction, sync: string): Promise<void> => {
  await query(transaction, COMPLETE, { sync });
  await query(transaction, FORGET_MEMBERS, { sync });
};
