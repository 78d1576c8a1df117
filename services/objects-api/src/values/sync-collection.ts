import { ServiceError, type SyncValuesAnswer, type SyncValuesRequest } from '@decision/contracts';
import {
  completeSync,
  openSync,
  type OpenSyncOutcome,
  type PresentMembers,
  recordSync,
  rememberMembers,
  takeTurns,
  type Transaction,
  type WorkspaceAccess,
} from '@decision/persistence';
import { type AnnouncingContext, changeAndAnnounce } from '../announcements';
import { runDry } from '../dry-run';
import { type ReadMembers, readCollection } from './read-values';
import { staleValues } from './value-answers';
import { sweepAbsent, type Swept } from './sweep-absent';
import { writeMembers } from './write-members';

type Counts = Omit<SyncValuesAnswer, 'collection' | 'sync_id' | 'dry_run'>;

const NOTHING: Counts = {
  already_completed: false,
  swept: false,
  created: 0,
  updated: 0,
  unchanged: 0,
  processed: 0,
  archived: 0,
  deleted: 0,
  blocked: [],
  errors: [],
};

const NOTHING_SWEPT: Swept = { archived: [], deleted: [], blocked: [] };

/**
 * Makes a collection equal to the request, or applies a chunk of it; each request is one transaction, so a chunk is applied wholly or not at
 * all. Throws `value_invalid`, `value_name_taken`, `value_sync_superseded` and `forbidden`.
 */
export const syncCollection = async (
  context: AnnouncingContext,
  access: WorkspaceAccess,
  request: SyncValuesRequest,
): Promise<SyncValuesAnswer> => {
  if (request.sync_id === undefined && request.complete === false) throw lacksSyncId();
  const collection = request.collection.normalize('NFC');
  const members = readCollection(collection, request);
  const dry = request.dry_run === true;
  const work = (transaction: Transaction): Promise<Counts> =>
    syncIn(transaction, access, { request, collection, members });
  const counts = dry
    ? await runDry(context.database, access, work)
    : await changeAndAnnounce(context, access, async (transaction, announceLater) => {
        const done = await work(transaction);
        if (done.created + done.updated + done.archived + done.deleted > 0) announceLater(staleValues(access));
        return done;
      });
  return {
    collection,
    ...(request.sync_id === undefined ? {} : { sync_id: request.sync_id }),
    dry_run: dry,
    ...counts,
  };
};

interface GivenChunk {
  readonly request: SyncValuesRequest;
  readonly collection: string;
  readonly members: ReadMembers;
}

const syncIn = async (transaction: Transaction, access: WorkspaceAccess, given: GivenChunk): Promise<Counts> => {
  const { request, collection, members } = given;
  await takeTurns(transaction, collection);
  const newUserGroups = request.user_groups ?? access.userGroups ?? [];
  const run = await findRun(transaction, given, newUserGroups);
  if (run.status === 'completed') return { ...NOTHING, already_completed: true, processed: members.processed };
  const written = await writeMembers(transaction, members, { newUserGroups, userGroups: request.user_groups });
  const names = [...members.values, ...members.problems].map(({ name }) => name);
  const sync = run.status === 'open' ? run.sync : undefined;
  if (sync !== undefined) await rememberMembers(transaction, sync, names);
  const complete = request.complete ?? sync === undefined;
  const present: PresentMembers = sync === undefined ? { names } : { sync };
  const { archived, deleted, blocked } = complete
    ? await sweepAbsent(transaction, collection, present, request.permanently_delete === true)
    : NOTHING_SWEPT;
  if (complete && sync !== undefined) await completeSync(transaction, sync);
  const { created, updated, unchanged, errors } = written;
  const change = { created, updated, archived, deleted };
  await recordSync(transaction, { collection, syncId: request.sync_id ?? null, userGroups: newUserGroups, ...change });
  return {
    ...{ already_completed: false, swept: complete, processed: members.processed },
    ...{ created: created.length, updated: updated.length, unchanged, errors },
    ...{ archived: archived.length, deleted: deleted.length, blocked },
  };
};

type FoundRun = Exclude<OpenSyncOutcome, { readonly status: 'superseded' }> | { readonly status: 'none' };

/** `none` for a request that contains a whole collection. */
const findRun = async (
  transaction: Transaction,
  { request: { sync_id: syncId }, collection }: GivenChunk,
  userGroups: readonly string[],
): Promise<FoundRun> => {
  if (syncId === undefined) return { status: 'none' };
  const outcome = await openSync(transaction, { collection, syncId, userGroups });
  if (outcome.status === 'superseded') throw superseded(collection, syncId);
  return outcome;
};

const lacksSyncId = (): ServiceError =>
  new ServiceError(
    'invalid_request',
    'A request that is not complete needs a "sync_id", which ties the chunks together.',
    {
      problems: [{ in: 'body', path: '/sync_id', message: 'is needed where "complete" is false' }],
    },
  );

const superseded = (collection: string, syncId: string): ServiceError =>
  new ServiceError(
    'value_sync_superseded',
    `The synchronisation "${syncId}" of "${collection}" cannot continue: another has started since, or another key owns it. Start again with a new "sync_id".`,
    { collection, sync_id: syncId },
  );
