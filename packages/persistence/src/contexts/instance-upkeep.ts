import { type Database } from '../connection/database';
import { type HeldInstances } from './fence';

/** An instance of some workspace that was left alone. */
export interface LeftInstance {
  readonly workspaceId: string;
  readonly contextId: string;
  readonly instanceId: string;
}

/** An operation whose holder has been silent for longer than its lease, held by the caller from now on. */
export interface TakenOperation {
  readonly workspaceId: string;
  readonly contextId: string;
  /** With the new fences: what the former holder writes with the old ones changes nothing. */
  readonly held: HeldInstances;
}

interface LeftRow {
  readonly workspace_id: string;
  readonly context_id: string;
  readonly instance_id: string;
}

const TAKE = /* sql */ `
  select * from take_over_operations(cast(:lease || ' milliseconds' as interval), cast(:most as integer))`;

interface TakenRow {
  readonly workspace_id: string;
  readonly context_id: string;
  readonly operation_id: string;
  readonly takeovers: number;
  readonly instance_ids: readonly string[];
  readonly fences: readonly string[];
}

/** Takes over operations of all workspaces whose lease has run out (C147), `most` of them. */
export const takeOverOperations = async (
  database: Pick<Database, 'lookUp'>,
  { leaseMs, most }: { readonly leaseMs: number; readonly most: number },
): Promise<readonly TakenOperation[]> => {
  const rows = await database.lookUp<TakenRow>(TAKE, { lease: leaseMs, most });
  return rows.map(({ workspace_id, context_id, operation_id, takeovers, instance_ids, fences }) => ({
    workspaceId: workspace_id,
    contextId: context_id,
    held: {
      operationId: operation_id,
      takeovers,
      fences: new Map(instance_ids.map((id, index) => [id, Number(fences[index])])),
    },
  }));
};

const SWEEP = /* sql */ `select * from sweep_expired_instances(cast(:most as integer))`;

/** Deletes instances of all workspaces that have expired and are free, the longest gone first (C107). */
export const sweepExpiredInstances = async (
  database: Pick<Database, 'lookUp'>,
  most: number,
): Promise<readonly LeftInstance[]> => {
  const rows = await database.lookUp<LeftRow>(SWEEP, { most });
  return rows.map(toLeft);
};

const FORGET = /* sql */ `select forget_stale_tickets(cast(:most as integer)) as forgotten`;

/** Takes away tickets whose holders are gone; answers how many. */
export const forgetStaleTickets = async (database: Pick<Database, 'lookUp'>, most: number): Promise<number> => {
  const [row] = await database.lookUp<{ forgotten: string }>(FORGET, { most });
  return Number(row?.forgotten ?? 0);
};

const toLeft = ({ workspace_id, context_id, instance_id }: LeftRow): LeftInstance => ({
  workspaceId: workspace_id,
  contextId: context_id,
  instanceId: instance_id,
});
