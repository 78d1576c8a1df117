import { type Database } from '../connection/database';
import { query, type Transaction } from '../connection/query';

/** A write of a flow node to an instance, by the key of its step. */
interface EntityWrites {
  readonly contextId: string;
  /** The same for every run of the step. */
  readonly key: string;
  /** Distinct. */
  readonly instanceIds: readonly string[];
}

const FIND = /* sql */ `
  select instance_id from entity_writes
  where key = :key and context_id = cast(:context as uuid) and instance_id = any (cast(:ids as text[]))`;

/** The instances, among these, that the step has written already. */
export const findEntityWrites = async (
  transaction: Transaction,
  { contextId, key, instanceIds }: EntityWrites,
): Promise<ReadonlySet<string>> => {
  const rows = await query<{ instance_id: string }>(transaction, FIND, { context: contextId, key, ids: instanceIds });
  return new Set(rows.map(({ instance_id }) => instance_id));
};

const RECORD = /* sql */ `
  insert into entity_writes (key, context_id, instance_id)
  select :key, cast(:context as uuid), id from unnest(cast(:ids as text[])) as id order by id collate "C"
  on conflict do nothing
  returning instance_id`;

/**
 * Records, in the transaction that writes the instances, that the step wrote them; false if another transaction has recorded one of them
 * meanwhile: then the caller must not commit.
 */
export const recordEntityWrites = async (
  transaction: Transaction,
  { contextId, key, instanceIds }: EntityWrites,
): Promise<boolean> => {
  if (instanceIds.length === 0) return true;
  const rows = await query<{ instance_id: string }>(transaction, RECORD, { context: contextId, key, ids: instanceIds });
  return rows.length === instanceIds.length;
};

const FORGET = /* sql */ `
  select forget_entity_writes(cast(:age || ' milliseconds' as interval), cast(:most as integer)) as forgotten`;

/** Deletes records of writes of all workspaces that are older than `ageMs`, at most `most`; answers how many. */
export const forgetEntityWrites = async (
  database: Pick<Database, 'lookUp'>,
  { ageMs, most }: { readonly ageMs: number; readonly most: number },
): Promise<number> => {
  const [row] = await database.lookUp<{ forgotten: string }>(FORGET, { age: ageMs, most });
  return Number(row?.forgotten ?? 0);
};
