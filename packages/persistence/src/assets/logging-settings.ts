import { type LoggingSettings } from '@decision/contracts';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';

/** Logging settings of a version. */
interface VersionLogging {
  /** Undefined if it has none. */
  readonly settings: LoggingSettings | undefined;
  /** Whether a rule or flow that the flow runs has settings, now or in the version that it names. */
  readonly isWithin: boolean;
  readonly isFlow: boolean;
}

const FIND = /* sql */ `
  with recursive used (version_id) as (
    select cast(:id as uuid)
    union
    select more.version_id from used
    join flow_uses on flow_uses.version_id = used.version_id
    left join assets on assets.id = flow_uses.used_asset_id
    cross join lateral (values (flow_uses.used_version_id), (assets.published_version_id)) as more (version_id)
    where more.version_id is not null
  )
  select v.kind = 'flow' as is_flow, v.definition #> '{settings,logging}' as settings,
    exists (
      select from used join asset_versions other on other.id = used.version_id
      where used.version_id <> v.id and other.definition #> '{settings,logging}' is not null
    ) as is_within
  from asset_versions v where v.id = cast(:id as uuid)`;

/** Logging settings of a context for decisions within operations on its instances. */
interface ContextLogging {
  /** Undefined if it has none. */
  readonly settings: LoggingSettings | undefined;
}

/** The settings of a context, by its slug; undefined if it does not exist. */
export const findContextLogging = async (
  transaction: Transaction,
  slug: string,
): Promise<ContextLogging | undefined> => {
  const sql = 'select logging as settings from contexts where slug = :slug and workspace_id = app_workspace_id()';
  const [row] = await query<{ settings: LoggingSettings | null }>(transaction, sql, { slug });
  return row && { settings: row.settings ?? undefined };
};

/** The logging settings for the decisions of a version; undefined if the version no longer exists. */
export const findVersionLogging = async (
  transaction: Transaction,
  versionId: string,
): Promise<VersionLogging | undefined> => {
  if (!isUuid(versionId)) return undefined;
  const [row] = await query<{ is_flow: boolean; settings: LoggingSettings | null; is_within: boolean }>(
    transaction,
    FIND,
    { id: versionId },
  );
  return row && { settings: row.settings ?? undefined, isWithin: row.is_within, isFlow: row.is_flow };
};
