import { type Database } from '../connection/database';
import { query, type Transaction } from '../connection/query';
import { among } from './instance-record';

/** How far the readers of an instance were told: through which relationship, and up to which reader. */
interface UntoldProgress {
  readonly relationshipId: string;
  readonly after: string;
}

/** An instance of some workspace whose readers are still to be told; it may be gone. */
export interface UntoldInstance {
  readonly workspaceId: string;
  readonly contextId: string;
  readonly instanceId: string;
  /** Another with each reason to tell. */
  readonly mark: string;
  readonly progress: UntoldProgress | undefined;
}

const MARK = /* sql */ `
  insert into context_untold as u (context_id, instance_id, lease_until)
  select cast(:context as uuid), id, date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => cast(:lease as double precision))
  from unnest(cast(:ids as text[])) as id order by id collate "C"
  on conflict (context_id, instance_id) do update
    set mark = excluded.mark, progress = null, attempts = 0, lease_until = excluded.lease_until
  returning instance_id, mark`;

/**
 * Says that the readers of instances are still to be told, and that the caller does so while the lease lasts; answers the mark of each. To be called by
 * the transaction that makes it so.
 */
export const markUntold = async (
  transaction: Transaction,
  contextId: string,
  instanceIds: readonly string[],
  leaseMs: number,
): Promise<ReadonlyMap<string, string>> => {
  const bindings = { context: contextId, ids: instanceIds, lease: leaseMs / 1_000 };
  const rows = await query<{ instance_id: string; mark: string }>(transaction, MARK, bindings);
  return new Map(rows.map(({ instance_id, mark }) => [instance_id, mark]));
};

const TAKE = /* sql */ `select * from take_untold(cast(:lease || ' milliseconds' as interval), cast(:most as integer))`;

interface TakenRow {
  readonly workspace_id: string;
  readonly context_id: string;
  readonly instance_id: string;
  readonly mark: string;
  readonly progress: UntoldProgress | null;
}

/** Takes instances of all workspaces whose readers nobody is telling, the longest left alone first. The lease is doubled with each attempt, up to 64 times. */
export const takeUntold = async (
  database: Pick<Database, 'lookUp'>,
  { leaseMs, most }: { readonly leaseMs: number; readonly most: number },
): Promise<readonly UntoldInstance[]> => {
  const rows = await database.lookUp<TakenRow>(TAKE, { lease: leaseMs, most });
  return rows.map(({ workspace_id, context_id, instance_id, mark, progress }) => ({
    ...{ workspaceId: workspace_id, contextId: context_id, instanceId: instance_id, mark },
    progress: progress ?? undefined,
  }));
};

const SAVE = /* sql */ `
  update context_untold u set progress = cast(p.progress as jsonb)
  from unnest(cast(:ids as text[]), cast(:marks as bigint[]), cast(:progresses as text[])) as p (instance_id, mark, progress)
  where u.context_id = cast(:context as uuid) and ${among('u')} and u.instance_id = p.instance_id and u.mark = p.mark`;

/** Notes how far the readers of instances have been told; of one with a newer mark nothing. */
export const saveUntoldProgress = async (
  transaction: Transaction,
  contextId: string,
  told: readonly (Pick<UntoldInstance, 'instanceId' | 'mark'> & { readonly progress: UntoldProgress })[],
): Promise<void> => {
  await query(transaction, SAVE, {
    context: contextId,
    ids: told.map(({ instanceId }) => instanceId),
    marks: told.map(({ mark }) => mark),
    progresses: told.map(({ progress }) => JSON.stringify(progress)),
  });
};

const FORGET = /* sql */ `
  delete from context_untold u using unnest(cast(:ids as text[]), cast(:marks as bigint[])) as told (instance_id, mark)
  where u.context_id = cast(:context as uuid) and ${among('u')} and u.instance_id = told.instance_id and u.mark = told.mark`;

/** Says that all readers of instances were told; one with a newer mark stays. */
export const forgetUntold = async (
  transaction: Transaction,
  contextId: string,
  told: readonly Pick<UntoldInstance, 'instanceId' | 'mark'>[],
): Promise<void> => {
  await query(transaction, FORGET, {
    context: contextId,
    ids: told.map(({ instanceId }) => instanceId),
    marks: told.map(({ mark }) => mark),
  });
};

const VERSIONS = /* sql */ `
  select instance_id, version from context_instances
  where context_id = cast(:context as uuid) and instance_id = any (cast(:ids as text[]))`;

/** Versions of instances, expired ones too; those that are not there are left out. */
export const findVersions = async (
  transaction: Transaction,
  contextId: string,
  instanceIds: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  const bindings = { context: contextId, ids: instanceIds };
  const rows = await query<{ instance_id: string; version: string }>(transaction, VERSIONS, bindings);
  return new Map(rows.map(({ instance_id, version }) => [instance_id, Number(version)]));
};
