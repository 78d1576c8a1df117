import { type Database } from '../connection/database';
import { query, type Transaction } from '../connection/query';
import { among } from './instances';

/** Progress of a cascade: the current relationship, and the last reader that was re-evaluated. */
interface CascadeProgress {
  readonly relationshipId: string;
  readonly after: string;
}

/** An instance of any workspace whose readers must still be re-evaluated; it may be deleted (ADR 30). Its row is in `context_untold`. */
export interface PendingCascade {
  readonly workspaceId: string;
  readonly contextId: string;
  readonly instanceId: string;
  /** A new id with each change that requires a cascade. */
  readonly mark: string;
  readonly progress: CascadeProgress | undefined;
}

const MARK = /* sql */ `
  insert into context_untold as u (context_id, instance_id, lease_until)
  select cast(:context as uuid), id, date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => cast(:lease as double precision))
  from unnest(cast(:ids as text[])) as id order by id collate "C"
  on conflict (context_id, instance_id) do update
    set mark = excluded.mark, progress = null, attempts = 0, lease_until = excluded.lease_until
  returning instance_id, mark`;

/**
 * Marks instances whose readers must be re-evaluated, which the caller does within the lease; answers the mark of each. Called in the
 * transaction of the change.
 */
export const markPendingCascades = async (
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
  readonly progress: CascadeProgress | null;
}

/** Takes pending cascades of all workspaces whose lease has expired, the oldest first. The lease is doubled with each attempt, up to 64 times. */
export const takePendingCascades = async (
  database: Pick<Database, 'lookUp'>,
  { leaseMs, most }: { readonly leaseMs: number; readonly most: number },
): Promise<readonly PendingCascade[]> => {
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

/** Saves the progress of pending cascades; an instance with a newer mark is unchanged. */
export const savePendingProgress = async (
  transaction: Transaction,
  contextId: string,
  cascades: readonly (Pick<PendingCascade, 'instanceId' | 'mark'> & { readonly progress: CascadeProgress })[],
): Promise<void> => {
  await query(transaction, SAVE, {
    context: contextId,
    ids: cascades.map(({ instanceId }) => instanceId),
    marks: cascades.map(({ mark }) => mark),
    progresses: cascades.map(({ progress }) => JSON.stringify(progress)),
  });
};

const FORGET = /* sql */ `
  delete from context_untold u using unnest(cast(:ids as text[]), cast(:marks as bigint[])) as done (instance_id, mark)
  where u.context_id = cast(:context as uuid) and ${among('u')} and u.instance_id = done.instance_id and u.mark = done.mark`;

/** Removes the marks of instances whose readers were all re-evaluated; one with a newer mark stays. */
export const removePendingCascades = async (
  transaction: Transaction,
  contextId: string,
  cascades: readonly Pick<PendingCascade, 'instanceId' | 'mark'>[],
): Promise<void> => {
  await query(transaction, FORGET, {
    context: contextId,
    ids: cascades.map(({ instanceId }) => instanceId),
    marks: cascades.map(({ mark }) => mark),
  });
};

const VERSIONS = /* sql */ `
  select instance_id, version from context_instances
  where context_id = cast(:context as uuid) and instance_id = any (cast(:ids as text[]))`;

/** Versions of instances, including expired ones; missing instances are left out. */
export const findVersions = async (
  transaction: Transaction,
  contextId: string,
  instanceIds: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  const bindings = { context: contextId, ids: instanceIds };
  const rows = await query<{ instance_id: string; version: string }>(transaction, VERSIONS, bindings);
  return new Map(rows.map(({ instance_id, version }) => [instance_id, Number(version)]));
};
