import { type Environment, type Release } from '@decision/contracts';
import { type EnvironmentRecord, type ReleaseRecord } from '@decision/persistence';
import { waitingFor } from './approval';

export const toEnvironment = (environment: EnvironmentRecord): Environment => ({
  id: environment.id,
  slug: environment.slug,
  name: environment.name,
  level: environment.level,
  approvers: [...environment.approvers],
  approval_scheme: environment.approvalScheme,
  direct_releases: environment.directReleases,
  created_at: environment.createdAt,
  updated_at: environment.updatedAt,
  updated_by: environment.updatedBy,
});

export const toRelease = (release: ReleaseRecord): Release => ({
  id: release.id,
  rule: release.rule,
  version: release.version,
  version_id: release.versionId,
  environment: release.environment.slug,
  level: release.environment.level,
  state: release.state,
  approvers: [...release.approvers],
  approval_scheme: release.approvalScheme,
  approvals: release.approvals.map(({ approvedBy, standsFor, approvedAt }) => ({
    approved_by: approvedBy,
    stands_for: [...standsFor],
    approved_at: approvedAt,
  })),
  waiting_for: release.state === 'pending' ? [...waitingFor(release)] : [],
  source: release.source,
  source_release_id: release.sourceReleaseId,
  previous_release_id: release.previousReleaseId,
  note: release.note,
  created_at: release.createdAt,
  created_by: release.createdBy,
  live_at: release.liveAt,
  ended_at: release.endedAt,
  ended_by: release.endedBy,
});
