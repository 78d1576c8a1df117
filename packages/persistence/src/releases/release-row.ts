import { type ApprovalScheme } from './environment-record';
import { type ReleaseRecord, type ReleaseSource, type ReleaseState } from './release-record';

/** The columns behind a {@link ReleaseRecord}. */
export interface ReleaseRow {
  readonly id: string;
  readonly rule_id: string;
  readonly rule_slug: string;
  readonly rule_name: string;
  readonly environment_id: string;
  readonly environment_slug: string;
  readonly environment_level: number;
  readonly version_id: string;
  readonly version: number;
  readonly state: ReleaseState;
  readonly approvers: string[];
  readonly approval_scheme: ApprovalScheme;
  readonly approvals: { by: string; stands_for: string[]; at: number }[];
  readonly source: ReleaseSource;
  readonly source_release_id: string | null;
  readonly previous_release_id: string | null;
  readonly note: string | null;
  readonly created_at: Date;
  readonly created_by: string | null;
  readonly live_at: Date | null;
  readonly ended_at: Date | null;
  readonly ended_by: string | null;
}

/** Times inside JSON travel as epoch ms. */
const APPROVALS = /* sql */ `
  coalesce(
    (select json_agg(
       json_build_object(
         'by', approved_by, 'stands_for', stands_for, 'at', cast(extract(epoch from approved_at) * 1000 as bigint)
       ) order by approved_at, approved_by)
     from release_approvals where release_id = releases.id),
    '[]'
  ) as approvals`;

/** Statement that reads releases; a condition and an order follow. */
export const selectReleases = /* sql */ `
  select releases.id, releases.rule_id, rules.slug as rule_slug, rules.name as rule_name,
    releases.environment_id, environments.slug as environment_slug, environments.level as environment_level,
    releases.version_id, rule_versions.number as version, releases.state, releases.approvers, releases.approval_scheme,
    ${APPROVALS}, releases.source, releases.source_release_id, releases.previous_release_id, releases.note,
    releases.created_at, releases.created_by, releases.live_at, releases.ended_at, releases.ended_by
  from releases
  join rules on rules.id = releases.rule_id
  join environments on environments.id = releases.environment_id
  join rule_versions on rule_versions.id = releases.version_id`;

export const toReleaseRecord = (row: ReleaseRow): ReleaseRecord => ({
  id: row.id,
  rule: { id: row.rule_id, slug: row.rule_slug, name: row.rule_name },
  environment: { id: row.environment_id, slug: row.environment_slug, level: row.environment_level },
  versionId: row.version_id,
  version: row.version,
  state: row.state,
  approvers: row.approvers,
  approvalScheme: row.approval_scheme,
  approvals: row.approvals.map(({ by, stands_for, at }) => ({
    approvedBy: by,
    standsFor: stands_for,
    approvedAt: new Date(at).toISOString(),
  })),
  source: row.source,
  sourceReleaseId: row.source_release_id,
  previousReleaseId: row.previous_release_id,
  note: row.note,
  createdAt: row.created_at.toISOString(),
  createdBy: row.created_by,
  liveAt: row.live_at?.toISOString() ?? null,
  endedAt: row.ended_at?.toISOString() ?? null,
  endedBy: row.ended_by,
});
