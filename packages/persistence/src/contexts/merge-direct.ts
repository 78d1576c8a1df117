import { query, type Transaction } from '../connection/query';
import { type WrittenRow } from './commit-outcome';
import { alive, type StoredFacts } from './instance-record';
import { refuseTooLarge } from './refuse-too-large';

/** Facts for one instance; its identity is among them. */
interface DirectMerge {
  readonly instanceId: string;
  readonly facts: StoredFacts;
}

/** An instance that was merged. */
export interface DirectlyMerged extends WrittenRow {
  readonly isNew: boolean;
  readonly facts: StoredFacts;
  /** ISO 8601 UTC with milliseconds; null: never. */
  readonly expiresAt: string | null;
}

interface MergedRow {
  readonly instance_id: string;
  readonly is_new: boolean;
  readonly facts: StoredFacts;
  readonly expires_at: Date | null;
  readonly version: string;
  readonly updated_at: Date;
  readonly transaction_id: string;
}

/**
 * Free rows whose line is empty and that have not expired; others are left to the line. So are rows of which some asset that was bound once owns a fact
 * that is given: what assets own is changed there.
 */
const MERGE = /* sql */ `
  insert into context_instances as i (context_id, instance_id, facts, version, expires_at)
  select cast(:context as uuid), given.instance_id, cast(given.facts as jsonb), 1,
    clock_timestamp() + make_interval(secs => cast(:ttl as double precision))
  from unnest(cast(:ids as text[]), cast(:facts as text[])) as given (instance_id, facts)
  order by given.instance_id collate "C"
  on conflict (context_id, instance_id) do update set
    facts = i.facts || excluded.facts, version = i.version + 1, expires_at = excluded.expires_at, updated_at = clock_timestamp()
  where i.operation_id is null and ${alive} and not exists (
    select from context_tickets t
    where t.context_id = i.context_id and t.instance_id = i.instance_id and t.lease_until > clock_timestamp()
  ) and not exists (
    select from jsonb_each(i.executions) as asset, jsonb_array_elements_text(asset.value -> 'owned_facts') as owned (fact)
    where excluded.facts -> owned.fact is not null
  )
  returning i.instance_id, i.version = 1 as is_new, i.facts, i.expires_at, i.version, i.updated_at,
    cast(pg_current_xact_id() as text) as transaction_id`;

/**
 * Merges records into instances in one statement (C140), for contexts of which nothing has to be computed: no formula, history, link or asset. Ids are
 * distinct. Answers what was merged; busy and expired instances are not. Throws `payload_too_large`.
 */
export const mergeDirect = async (
  transaction: Transaction,
  contextId: string,
  merges: readonly DirectMerge[],
  ttlSeconds: number | null,
): Promise<readonly DirectlyMerged[]> => {
  const rows = await refuseTooLarge(() =>
    query<MergedRow>(transaction, MERGE, {
      context: contextId,
      ids: merges.map(({ instanceId }) => instanceId),
      facts: merges.map(({ facts }) => JSON.stringify(facts)),
      ttl: ttlSeconds,
    }),
  );
  return rows.map((row) => ({
    instanceId: row.instance_id,
    isNew: row.is_new,
    facts: row.facts,
    expiresAt: row.expires_at?.toISOString() ?? null,
    version: Number(row.version),
    writtenAt: row.updated_at.toISOString(),
    transactionId: row.transaction_id,
  }));
};
