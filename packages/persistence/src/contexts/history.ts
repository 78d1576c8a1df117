import { query, type Transaction } from '../connection/query';
import { together } from '../connection/together';

/** One committed value of a fact. */
interface StoredHistoryEntry {
  /** Epoch ms. */
  readonly timestamp: number;
  readonly value: unknown;
}

/** An entry to add. */
export interface HistoryAddition extends StoredHistoryEntry {
  readonly instanceId: string;
  readonly fact: string;
}

const ADD = /* sql */ `
  insert into context_history (context_id, instance_id, fact, at, value)
  select cast(:context as uuid), a.instance_id, a.fact, to_timestamp(a.at / 1000.0), cast(a.value as jsonb)
  from unnest(cast(:ids as text[]), cast(:facts as text[]), cast(:times as double precision[]), cast(:values as text[]))
    as a (instance_id, fact, at, value)`;

/** The oldest entry to delete is looked up once per fact, so that the entries to keep are skipped once; usually no entry is deleted. */
const TRIM = /* sql */ `
  delete from context_history h where h.context_id = cast(:context as uuid) and h.ctid = any (array(
    select stale.row
    from (
      select distinct instance_id, fact from unnest(cast(:ids as text[]), cast(:facts as text[])) as a (instance_id, fact)
    ) touched
    cross join lateral (
      select entry.sequence from context_history entry
      where entry.context_id = cast(:context as uuid) and entry.instance_id = touched.instance_id and entry.fact = touched.fact
      order by entry.sequence desc offset :keep limit 1
    ) cut
    cross join lateral (
      select entry.ctid as row from context_history entry
      where entry.context_id = cast(:context as uuid) and entry.instance_id = touched.instance_id and entry.fact = touched.fact
        and entry.sequence <= cut.sequence
      offset 0
    ) stale
  ))`;

/** Adds entries, and deletes those of the same facts that are no longer among the newest `keep` (C101). */
export const addHistory = async (
  transaction: Transaction,
  contextId: string,
  entries: readonly HistoryAddition[],
  keep: number,
): Promise<void> => {
  if (entries.length === 0) return;
  const names = {
    context: contextId,
    ids: entries.map(({ instanceId }) => instanceId),
    facts: entries.map(({ fact }) => fact),
  };
  const values = entries.map(({ value }) => JSON.stringify(value ?? null));
  await together(
    query(transaction, ADD, { ...names, times: entries.map(({ timestamp }) => String(timestamp)), values }),
    query(transaction, TRIM, { ...names, keep }),
  );
};

const FIND = /* sql */ `
  select h.instance_id, h.fact, h.at, h.value
  from unnest(cast(:ids as text[])) as wanted (instance_id)
  cross join unnest(cast(:facts as text[])) as named (fact)
  cross join lateral (
    select * from context_history entries
    where entries.context_id = cast(:context as uuid) and entries.instance_id = wanted.instance_id and entries.fact = named.fact
    order by entries.sequence desc limit :limit
  ) h
  order by h.instance_id, h.fact, h.sequence desc`;

interface HistoryRow {
  readonly instance_id: string;
  readonly fact: string;
  readonly at: Date;
  readonly value: unknown;
}

/** Entries of facts, newest first, by instance and fact. Facts without an entry are absent. */
type InstanceHistories = ReadonlyMap<string, ReadonlyMap<string, readonly StoredHistoryEntry[]>>;

/** The newest entries of these facts of these instances, at most `limit` of each. */
export const findHistory = async (
  transaction: Transaction,
  contextId: string,
  instanceIds: readonly string[],
  { facts, limit }: { readonly facts: readonly string[]; readonly limit: number },
): Promise<InstanceHistories> => {
  const rows = await query<HistoryRow>(transaction, FIND, { context: contextId, ids: instanceIds, facts, limit });
  const histories = new Map<string, Map<string, StoredHistoryEntry[]>>();
  for (const { instance_id, fact, at, value } of rows) {
    const ofInstance = histories.get(instance_id) ?? new Map<string, StoredHistoryEntry[]>();
    histories.set(instance_id, ofInstance);
    const entries = ofInstance.get(fact) ?? [];
    ofInstance.set(fact, entries);
    entries.push({ timestamp: at.getTime(), value });
  }
  return histories;
};
