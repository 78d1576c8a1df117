import { columnsOf, draftFields, readDraft } from './draft-columns';
import { type RuleDraft, type RuleFacts, type RuleRecord, type RuleSummary } from './rule-record';

/** The columns behind {@link RuleFacts}; those of the draft lie beside them. */
export interface RuleRow extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly slug: string;
  readonly user_groups: string[];
  readonly published_version: number | null;
  readonly published_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly updated_by: string | null;
  readonly row_count: number;
}

const FACTS =
  'rules.id, rules.slug, rules.user_groups, published.number as published_version, published.published_at, ' +
  'rules.created_at, rules.updated_at, rules.updated_by';

const SUMMARY_FIELDS = [
  'name',
  'description',
  'labels',
  'folder',
  'requestSchema',
  'responseSchema',
  'metadata',
  'context',
] as const satisfies readonly (keyof RuleDraft)[];

/** Rules with the version that is in service. */
export const fromRules = 'rules left join rule_versions published on published.id = rules.published_version_id';

/** Select list of a whole rule, and of one without rows. */
export const recordColumns = `${FACTS}, ${columnsOf(draftFields)}`;
export const summaryColumns = `${FACTS}, rules.row_count, ${columnsOf(SUMMARY_FIELDS)}`;

const toFacts = (row: RuleRow): RuleFacts => ({
  id: row.id,
  slug: row.slug,
  userGroups: row.user_groups,
  publishedVersion: row.published_version,
  publishedAt: row.published_at?.toISOString() ?? null,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  updatedBy: row.updated_by,
});

export const toRuleRecord = (row: RuleRow): RuleRecord => ({ ...toFacts(row), ...readDraft(row, draftFields) });

export const toRuleSummary = (row: RuleRow): RuleSummary => ({
  ...toFacts(row),
  ...readDraft(row, SUMMARY_FIELDS),
  rowCount: row.row_count,
});
