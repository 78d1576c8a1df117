import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';

/** The visible part of the names in decisions. */
interface SeenNames {
  /** Ids of rules and flows. */
  readonly assets: readonly string[];
  /** Slugs. */
  readonly contexts: readonly string[];
  readonly flows: readonly string[];
}

/** The names that the transaction's access sees; for stores of decisions without row-level security. */
export const findSeenNames = async (transaction: Transaction): Promise<SeenNames> => {
  const [seen] = await query<SeenNames>(
    transaction,
    /* sql */ `
    select array(select cast(id as text) from assets) as assets, array(select slug from contexts) as contexts,
      array(select slug from assets where kind = 'flow') as flows`,
    {},
  );
  return seen ?? { assets: [], contexts: [], flows: [] };
};

/**
 * The trace of a flow names the assets that the flow runs: a restricted access reads it only if it sees all of them. Traces of flows whose
 * nodes read or write instances contain the data found there; only an unrestricted access reads those. `version` and `asset` are
 * expressions.
 */
export const seesWholeFlow = (version: string, asset: string): string => /* sql */ `(
    ${asset} is not null
    and exists (select from asset_versions v where v.id = ${version})
    and not exists (
      with recursive used (version_id, asset_id) as (
        select ${version}, ${asset}
        union
        select u.used_version_id, u.used_asset_id from flow_uses u join used on u.version_id = used.version_id
      )
      select from used
      left join asset_versions v on v.id = used.version_id
      left join assets a on a.id = used.asset_id
      where v.id is null or a.id is null or cast(v.definition as text) ~ '"type"\\s*:\\s*"entity"'
    )
  )`;

/** The flow versions, among these, whose traces the transaction's access may read. */
export const findReadableTraces = async (
  transaction: Transaction,
  versionIds: readonly string[],
): Promise<ReadonlySet<string>> => {
  const rows = await query<{ id: string }>(
    transaction,
    /* sql */ `
    select cast(d.id as text) as id from asset_versions d
    where d.id = any (cast(:ids as uuid[])) and (app_is_unrestricted() or ${seesWholeFlow('d.id', 'd.rule_id')})`,
    { ids: versionIds.filter(isUuid) },
  );
  return new Set(rows.map(({ id }) => id));
};
