import { recordChange } from '../audit/record-change';
import { type Database } from '../connection/database';
import { query, type Transaction } from '../connection/query';

/** The number of workers that a workspace requests. */
export interface WorkerFloor {
  readonly targetWorkers: number;
  /** 1 or more. */
  readonly expiresInSeconds: number;
}

export interface WantedWorkers {
  /** From 1 to 10,000. */
  readonly targetWorkers: number;
  /** Whether a larger number that was requested before is kept. */
  readonly keepsLarger: boolean;
  /** Duration of the request, ms. */
  readonly durationMs: number;
}

interface FloorRow {
  readonly target_workers: number;
  readonly expires_at: Date;
  readonly expires_in_seconds: number;
}

const COLUMNS = /* sql */ `
  worker_floors.target_workers, worker_floors.expires_at,
  cast(ceil(extract(epoch from worker_floors.expires_at - clock_timestamp())) as integer) as expires_in_seconds`;
const FIND = /* sql */ `select ${COLUMNS} from worker_floors where expires_at > clock_timestamp()`;
const LOCK = /* sql */ `${FIND} for update`;
/** In one statement, so that the largest number of concurrent requests is kept. */
const SET = /* sql */ `
  insert into worker_floors (target_workers, expires_at)
  values (
    cast(:target as integer),
    -- Down to the millisecond that is stored: rounded up, it would be wanted for longer than was asked.
    date_trunc('milliseconds', clock_timestamp() + cast(:duration as double precision) * interval '1 millisecond')
  )
  on conflict (workspace_id) do update
    set target_workers = case
        when cast(:keeps_larger as boolean) and worker_floors.expires_at > clock_timestamp()
        then greatest(worker_floors.target_workers, excluded.target_workers)
        else excluded.target_workers
      end,
      expires_at = excluded.expires_at, updated_at = clock_timestamp(), updated_by = app_actor()
  returning ${COLUMNS}`;
const DESIRED = /* sql */ `select desired_workers() as desired`;

/** The floor of the workspace; undefined if there is none, or it has expired. */
export const findWorkerFloor = async (transaction: Transaction): Promise<WorkerFloor | undefined> => {
  const [row] = await query<FloorRow>(transaction, FIND);
  return row && toFloor(row);
};

/** Requests workers from now on. Throws `forbidden` for an access that is restricted to groups. */
export const setWorkerFloor = async (
  transaction: Transaction,
  { targetWorkers, keepsLarger, durationMs }: WantedWorkers,
): Promise<WorkerFloor> => {
  const [before] = await query<FloorRow>(transaction, LOCK);
  const given = { target: targetWorkers, keeps_larger: keepsLarger, duration: durationMs };
  const [row] = await query<FloorRow>(transaction, SET, given);
  const after = row as FloorRow; // an upsert of one row answers one
  await recordChange(transaction, {
    kind: 'worker_floor',
    action: before === undefined ? 'create' : 'update',
    id: 'workers',
    name: 'workers',
    before: before && recorded(before),
    after: recorded(after),
  });
  return toFloor(after);
};

/** The largest number of workers that any workspace requests; 0 if none does. Throws `database_unavailable`. */
export const readDesiredWorkers = async (database: Pick<Database, 'lookUp'>): Promise<number> => {
  const [row] = await database.lookUp<{ readonly desired: number }>(DESIRED);
  return row?.desired ?? 0;
};

const toFloor = (row: FloorRow): WorkerFloor => ({
  targetWorkers: row.target_workers,
  // Rounding may have reached the end of the duration.
  expiresInSeconds: Math.max(row.expires_in_seconds, 1),
});

const recorded = (row: FloorRow): object => ({
  targetWorkers: row.target_workers,
  expiresAt: row.expires_at.toISOString(),
});
