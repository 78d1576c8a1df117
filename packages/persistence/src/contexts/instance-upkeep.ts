import { type Database } from '../connection/database';
import { type HeldInstances } from './admission';

/** An operation whose holder has been silent for longer than its lease, now held by the caller. */
export interface TakenOperation {
  readonly workspaceId: string;
  readonly contextId: string;
  /** With the new fences: writes of the former holder under the old ones have no effect. */
  readonly held: HeldInstances;
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

/** Takes over operations of all workspaces whose lease has expired (C147), at most `most`. */
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

/** Bounds of one step of a deletion: each step is its own, short transaction. */
export interface StepBounds {
  /** Instances, or other rows in a step that deletes those. */
  readonly rows: number;
  /** Entries of history that a step deletes together with instances. */
  readonly history: number;
  /** Bytes of the stored values of those rows. The first row may be larger. */
  readonly bytes: number;
}

const SWEEP = /* sql */ `
  select * from sweep_expired_step(cast(:rows as integer), cast(:history as integer), cast(:bytes as bigint))`;

/** Rows that a step deleted. */
export interface SweptRows {
  readonly instances: number;
  readonly history: number;
}

/** Deletes one step of the expired, free instances of all workspaces, the longest expired first (C107). A step that deleted nothing is the last. */
export const sweepExpiredInstances = async (
  database: Pick<Database, 'lookUp'>,
  { rows, history, bytes }: StepBounds,
): Promise<SweptRows> => {
  const [row] = await database.lookUp<{ instances: string; history: string }>(SWEEP, { rows, history, bytes });
  return { instances: Number(row?.instances ?? 0), history: Number(row?.history ?? 0) };
};

const REMOVE = /* sql */ `select * from remove_context_step(cast(:rows as integer), cast(:bytes as bigint))`;

/** Progress of the removal of a deleted context: numbers of completely removed rows. */
export interface ContextRemoval {
  readonly contextId: string;
  /** Slug of the context before it was deleted. */
  readonly slug: string;
  readonly history: number;
  readonly links: number;
  readonly instances: number;
  /** Rows of all kinds that this step removed. */
  readonly removed: number;
  /** Whether the context itself is removed too, without any remains. */
  readonly done: boolean;
}

type RemovalRow = Record<'context_id' | 'slug' | 'history' | 'links' | 'instances' | 'removed', string> & {
  readonly done: boolean;
};

/**
 * Takes one step of the removal of a deleted context of any workspace, the one with the longest pause; undefined if none is due. Contexts
 * are removed in parallel, each by one process at a time; a process that dies loses only its step.
 */
export const removeContextStep = async (
  database: Pick<Database, 'lookUp'>,
  { rows, bytes }: Omit<StepBounds, 'history'>,
): Promise<ContextRemoval | undefined> => {
  const [row] = await database.lookUp<RemovalRow>(REMOVE, { rows, bytes });
  if (row === undefined) return undefined;
  const { context_id: contextId, slug, history, links, instances, removed, done } = row;
  return {
    ...{ contextId, slug, done },
    ...{ history: Number(history), links: Number(links), instances: Number(instances), removed: Number(removed) },
  };
};

const FORGET = /* sql */ `select forget_stale_tickets(cast(:most as integer)) as forgotten`;

/** Removes tickets of dead holders; answers how many. */
export const forgetStaleTickets = async (database: Pick<Database, 'lookUp'>, most: number): Promise<number> => {
  const [row] = await database.lookUp<{ forgotten: string }>(FORGET, { most });
  return Number(row?.forgotten ?? 0);
};
