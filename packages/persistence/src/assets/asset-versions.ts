import {
  type AssetKind,
  type FlowDefinition,
  type NumberedVersion,
  type RuleDraft,
  type RulePointer,
  type RuleTable,
} from '@decision/contracts';
import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { copyUses } from './flow-uses';

interface PointerRow {
  readonly id: string;
  readonly user_groups: string[];
  readonly version_id: string | null;
  readonly number: number | null;
  readonly reaches_out: boolean | null;
  readonly pins: RulePointer['pins'];
}

const POINTER = /* sql */ `
  select assets.id, assets.user_groups, published.id as version_id, published.number, published.reaches_out,
    coalesce(
      (select json_object_agg(environments.slug, json_strip_nulls(json_build_object(
         'version', pinned.number, 'version_id', pinned.id, 'reaches_out', pinned.reaches_out
       )))
       from releases
       join environments on environments.id = releases.environment_id
       join asset_versions pinned on pinned.id = releases.version_id
       where releases.rule_id = assets.id and releases.state = 'live'),
      '{}'
    ) as pins
  from assets left join asset_versions published on published.id = assets.published_version_id
  where assets.slug = :slug and assets.kind = :kind`;

const NUMBERED = /* sql */ `
  select id, reaches_out from asset_versions where rule_id = cast(:asset_id as uuid) and number = :number`;

/** Largest number of a version. */
const MAX_NUMBER = 2 ** 31 - 1;

/** Current target of a slug of a kind, as services cache it; undefined if no such asset is visible. */
export const findAssetPointer = async (
  transaction: Transaction,
  kind: AssetKind,
  slug: string,
): Promise<RulePointer | undefined> => {
  const [row] = await query<PointerRow>(transaction, POINTER, { kind, slug });
  if (row === undefined) return undefined;
  const { id, user_groups, number, version_id, reaches_out, pins } = row;
  const latest =
    number === null || version_id === null ? null : { version: number, version_id, ...outward(reaches_out) };
  return { rule_id: id, user_groups, latest, pins };
};

const outward = (reachesOut: boolean | null) => (reachesOut === null ? {} : { reaches_out: reachesOut });

/** The version of a number of a rule or flow, which never changes; undefined if there is none. */
export const findNumberedVersion = async (
  transaction: Transaction,
  assetId: string,
  number: number,
): Promise<NumberedVersion | undefined> => {
  if (!isUuid(assetId) || !Number.isInteger(number) || number < 1 || number > MAX_NUMBER) return undefined;
  const bindings = { asset_id: assetId, number };
  const [row] = await query<{ id: string; reaches_out: boolean | null }>(transaction, NUMBERED, bindings);
  return row && { version_id: row.id, ...outward(row.reaches_out) };
};

/** Queries for a version of a rule: one that still belongs to its rule, or one that is kept for flows. */
const ofRuleVersion = (expression: string): string => /* sql */ `
  select ${expression} from asset_versions where id = cast(:id as uuid) and kind = 'rule'
  union all
  select ${expression} from kept_versions where id = cast(:id as uuid) and kind = 'rule'
  limit 1`;

const LOAD_TABLE = ofRuleVersion('definition');
const MEASURE = ofRuleVersion('pg_column_size(definition) as bytes');

/** Approximate stored size of the table of a version, compressed, bytes; undefined as for {@link loadVersion}. Reads none of the table. */
export const measureVersion = async (transaction: Transaction, versionId: string): Promise<number | undefined> => {
  if (!isUuid(versionId)) return undefined;
  const [row] = await query<{ bytes: number }>(transaction, MEASURE, { id: versionId });
  return row?.bytes;
};

/**
 * The immutable table of a published version of a rule; undefined if it is not visible, or if it was deleted with its rule and no published
 * flow uses it.
 */
export const loadVersion = async (transaction: Transaction, versionId: string): Promise<RuleTable | undefined> => {
  if (!isUuid(versionId)) return undefined;
  const [row] = await query<{ definition: RuleTable }>(transaction, LOAD_TABLE, { id: versionId });
  return row?.definition;
};

/** A published version without its content. */
interface VersionSummary {
  readonly versionId: string;
  readonly version: number;
  /** ISO 8601 UTC with milliseconds. */
  readonly publishedAt: string;
  readonly publishedBy: string | null;
}

/** The rest of a draft when it was published: everything that does not affect answers. */
type VersionDetails = Omit<RuleDraft, keyof RuleTable> & { readonly slug: string };

/** The content of versions of a kind. */
interface DefinitionOf {
  readonly rule: RuleTable;
  readonly flow: FlowDefinition;
}

/** A published version with its complete content. */
export interface VersionDocument<K extends AssetKind> extends VersionSummary {
  readonly definition: DefinitionOf[K];
  readonly details: VersionDetails;
}

interface VersionRow {
  readonly id: string;
  readonly number: number;
  readonly published_at: Date;
  readonly published_by: string | null;
}

const LIST = /* sql */ `
  select id, number, published_at, published_by from asset_versions
  where rule_id = cast(:asset_id as uuid) and number < :before order by number desc limit :limit`;

const LOAD = /* sql */ `
  select id, number, published_at, published_by, definition, details from asset_versions where id = cast(:id as uuid) and kind = :kind`;

const COPY = /* sql */ `
  with numbered as (
    update asset_ids set last_number = last_number + 1
    where id = (select id from assets where id = cast(:asset_id as uuid) and kind = :kind) returning last_number
  ), copied as (
    insert into asset_versions (id, rule_id, kind, number, reaches_out, value_ids, definition, details)
    select cast(:version_id as uuid), rule_id, kind, last_number, reaches_out, value_ids, definition, details
    from asset_versions, numbered
    where asset_versions.id = cast(:source_id as uuid) and rule_id = cast(:asset_id as uuid)
    returning id
  )
  update assets set published_version_id = copied.id from copied, numbered where assets.id = cast(:asset_id as uuid)
  returning assets.slug, assets.user_groups, numbered.last_number as version,
    (select number from asset_versions where id = cast(:source_id as uuid)) as source_version`;

interface CopiedRow {
  readonly slug: string;
  readonly user_groups: string[];
  readonly version: number;
  readonly source_version: number;
}

const SAME = /* sql */ `
  select 1 from asset_versions a, asset_versions b
  where a.id = cast(:a as uuid) and b.id = cast(:b as uuid) and cast(a.definition as text) = cast(b.definition as text)`;

const toSummary = ({ id, number, published_at, published_by }: VersionRow): VersionSummary => ({
  versionId: id,
  version: number,
  publishedAt: published_at.toISOString(),
  publishedBy: published_by,
});

const ABOVE_ALL = 2 ** 31 - 1;

/** The versions of a rule or flow with numbers below `before`, the newest first. */
export const listVersions = async (
  transaction: Transaction,
  assetId: string,
  { limit, before = ABOVE_ALL }: { readonly limit: number; readonly before?: number | undefined },
): Promise<readonly VersionSummary[]> =>
  isUuid(assetId)
    ? (await query<VersionRow>(transaction, LIST, { asset_id: assetId, before, limit })).map(toSummary)
    : [];

/** A version with its complete content; undefined if none of the kind is visible. */
export const loadVersionDocument = async <K extends AssetKind>(
  transaction: Transaction,
  kind: K,
  versionId: string,
): Promise<VersionDocument<K> | undefined> => {
  if (!isUuid(versionId)) return undefined;
  const [row] = await query<VersionRow & Omit<VersionDocument<K>, keyof VersionSummary>>(transaction, LOAD, {
    kind,
    id: versionId,
  });
  return row && { ...toSummary(row), definition: row.definition, details: row.details };
};

/** Whether two versions give the same answers, judged by their text. */
export const areSameVersions = async (transaction: Transaction, a: string, b: string): Promise<boolean> =>
  a === b || (await query(transaction, SAME, { a, b })).length > 0;

/** Publishes the content of an earlier version as the next version, in service at once. The draft is unchanged. The asset must be locked. */
export const publishVersionAgain = async (
  transaction: Transaction,
  kind: AssetKind,
  version: { readonly assetId: string; readonly sourceId: string; readonly versionId: string },
): Promise<void> => {
  const { assetId: id, sourceId, versionId } = version;
  const [copied] = await query<CopiedRow>(transaction, COPY, {
    kind,
    asset_id: id,
    source_id: sourceId,
    version_id: versionId,
  });
  if (copied === undefined) return;
  if (kind === 'flow') await copyUses(transaction, { sourceId, versionId });
  const { slug: name, user_groups: userGroups, version: number, source_version: sourceVersion } = copied;
  const after = { versionId, version: number, sourceVersion };
  await recordChange(transaction, { kind, action: 'publish', id, name, userGroups, after });
};

const INPUT_KEYS = /* sql */ `
  select distinct field ->> 'key' as key from asset_versions, json_array_elements(definition -> 'requestSchema') as field
  where rule_id = cast(:asset_id as uuid) and starts_with(field ->> 'key', :prefix) order by 1`;

/** Keys of inputs, in any version of a visible rule or flow, that begin with a text. */
export const findInputKeys = async (
  transaction: Transaction,
  assetId: string,
  prefix: string,
): Promise<readonly string[]> => {
  const rows = await query<{ key: string }>(transaction, INPUT_KEYS, { asset_id: assetId, prefix });
  return rows.map(({ key }) => key);
};
