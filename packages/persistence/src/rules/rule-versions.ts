import { type NumberedVersion, type RulePointer, type RuleTable } from '@decision/contracts';
import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { type RuleDraft } from './rule-record';

interface PointerRow {
  readonly id: string;
  readonly user_groups: string[];
  readonly version_id: string | null;
  readonly number: number | null;
  readonly pins: RulePointer['pins'];
}

const POINTER = /* sql */ `
  select rules.id, rules.user_groups, published.id as version_id, published.number,
    coalesce(
      (select json_object_agg(environments.slug, json_build_object('version', pinned.number, 'version_id', pinned.id))
       from releases
       join environments on environments.id = releases.environment_id
       join rule_versions pinned on pinned.id = releases.version_id
       where releases.rule_id = rules.id and releases.state = 'live'),
      '{}'
    ) as pins
  from rules left join rule_versions published on published.id = rules.published_version_id
  where rules.slug = :slug`;

const NUMBERED = /* sql */ `
  select id from rule_versions where rule_id = cast(:rule_id as uuid) and number = :number`;

/** Largest number that a version can have. */
const MAX_NUMBER = 2 ** 31 - 1;

/** Current target of a slug, as services cache it; undefined if no rule of the slug is visible. */
export const findRulePointer = async (transaction: Transaction, slug: string): Promise<RulePointer | undefined> => {
  const [row] = await query<PointerRow>(transaction, POINTER, { slug });
  if (row === undefined) return undefined;
  const { id, user_groups, number, version_id, pins } = row;
  const latest = number === null || version_id === null ? null : { version: number, version_id };
  return { rule_id: id, user_groups, latest, pins };
};

/** The version behind a number of a rule, which never changes; undefined where there is none. */
export const findNumberedVersion = async (
  transaction: Transaction,
  ruleId: string,
  number: number,
): Promise<NumberedVersion | undefined> => {
  if (!isUuid(ruleId) || !Number.isInteger(number) || number < 1 || number > MAX_NUMBER) return undefined;
  const [row] = await query<{ id: string }>(transaction, NUMBERED, { rule_id: ruleId, number });
  return row && { version_id: row.id };
};

const LOAD_TABLE = /* sql */ `select definition from rule_versions where id = cast(:id as uuid)`;

const MEASURE = /* sql */ `select pg_column_size(definition) as bytes from rule_versions where id = cast(:id as uuid)`;

/** About how many bytes the table of a version takes where it is stored, compressed; undefined as {@link loadVersion}. Reads none of them. */
export const measureVersion = async (transaction: Transaction, versionId: string): Promise<number | undefined> => {
  if (!isUuid(versionId)) return undefined;
  const [row] = await query<{ bytes: number }>(transaction, MEASURE, { id: versionId });
  return row?.bytes;
};

/** The immutable table of a published version; undefined where it is not visible or was deleted with its rule. */
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

/** The rest of a draft as it was published: everything that does not decide answers. */
type VersionDetails = Omit<RuleDraft, keyof RuleTable> & { readonly slug: string };

/** A published version with everything in it. */
export interface VersionDocument extends VersionSummary {
  readonly table: RuleTable;
  readonly details: VersionDetails;
}

interface VersionRow {
  readonly id: string;
  readonly number: number;
  readonly published_at: Date;
  readonly published_by: string | null;
}

const LIST = /* sql */ `
  select id, number, published_at, published_by from rule_versions
  where rule_id = cast(:rule_id as uuid) and number < :before order by number desc limit :limit`;

const LOAD = /* sql */ `
  select id, number, published_at, published_by, definition, details from rule_versions where id = cast(:id as uuid)`;

const COPY = /* sql */ `
  with numbered as (
    update rule_ids set last_number = last_number + 1
    where id = (select id from rules where id = cast(:rule_id as uuid)) returning last_number
  ), copied as (
    insert into rule_versions (id, rule_id, number, value_ids, definition, details)
    select cast(:version_id as uuid), rule_id, last_number, value_ids, definition, details
    from rule_versions, numbered
    where rule_versions.id = cast(:source_id as uuid) and rule_id = cast(:rule_id as uuid)
    returning id
  )
  update rules set published_version_id = copied.id from copied, numbered where rules.id = cast(:rule_id as uuid)
  returning rules.slug, rules.user_groups, numbered.last_number as version,
    (select number from rule_versions where id = cast(:source_id as uuid)) as source_version`;

interface CopiedRow {
  readonly slug: string;
  readonly user_groups: string[];
  readonly version: number;
  readonly source_version: number;
}

const SAME = /* sql */ `
  select 1 from rule_versions a, rule_versions b
  where a.id = cast(:a as uuid) and b.id = cast(:b as uuid) and cast(a.definition as text) = cast(b.definition as text)`;

const toSummary = ({ id, number, published_at, published_by }: VersionRow): VersionSummary => ({
  versionId: id,
  version: number,
  publishedAt: published_at.toISOString(),
  publishedBy: published_by,
});

const ABOVE_ALL = 2 ** 31 - 1;

/** The versions of a rule with numbers below `before`, the newest first. */
export const listVersions = async (
  transaction: Transaction,
  ruleId: string,
  { limit, before = ABOVE_ALL }: { readonly limit: number; readonly before?: number | undefined },
): Promise<readonly VersionSummary[]> =>
  isUuid(ruleId) ? (await query<VersionRow>(transaction, LIST, { rule_id: ruleId, before, limit })).map(toSummary) : [];

/** A version with everything in it; undefined where it is not visible. */
export const loadVersionDocument = async (
  transaction: Transaction,
  versionId: string,
): Promise<VersionDocument | undefined> => {
  if (!isUuid(versionId)) return undefined;
  const [row] = await query<VersionRow & { definition: RuleTable; details: VersionDetails }>(transaction, LOAD, {
    id: versionId,
  });
  return row && { ...toSummary(row), table: row.definition, details: row.details };
};

/** Whether two versions answer alike, by their text. */
export const areSameVersions = async (transaction: Transaction, a: string, b: string): Promise<boolean> =>
  a === b || (await query(transaction, SAME, { a, b })).length > 0;

/** Publishes what an earlier version holds as the next version, in service at once. The draft stays. The rule must be locked. */
export const publishVersionAgain = async (
  transaction: Transaction,
  { ruleId, sourceId, versionId }: { readonly ruleId: string; readonly sourceId: string; readonly versionId: string },
): Promise<void> => {
  const [copied] = await query<CopiedRow>(transaction, COPY, {
    rule_id: ruleId,
    source_id: sourceId,
    version_id: versionId,
  });
  if (copied === undefined) return;
  const { slug: name, user_groups: userGroups, version, source_version: sourceVersion } = copied;
  const after = { versionId, version, sourceVersion };
  await recordChange(transaction, { kind: 'rule', action: 'publish', id: ruleId, name, userGroups, after });
};

const INPUT_KEYS = /* sql */ `
  select distinct field ->> 'key' as key from rule_versions, json_array_elements(definition -> 'requestSchema') as field
  where rule_id = cast(:rule_id as uuid) and starts_with(field ->> 'key', :prefix) order by 1`;

/** Keys of inputs, in any version of a visible rule, that begin with a text. */
export const findInputKeys = async (
  transaction: Transaction,
  ruleId: string,
  prefix: string,
): Promise<readonly string[]> => {
  const rows = await query<{ key: string }>(transaction, INPUT_KEYS, { rule_id: ruleId, prefix });
  return rows.map(({ key }) => key);
};
