import { query, type Transaction } from '../connection/query';
import { findRelease } from './find-release';
import { type EnvironmentRecord } from './environment-record';
import { recordReleaseChange } from './record-release-change';
import { type ReleaseRecord, type ReleaseSource } from './release-record';

export interface NewRelease {
  /** A UUID. */
  readonly id: string;
  readonly ruleId: string;
  readonly versionId: string;
  readonly environment: Pick<EnvironmentRecord, 'id' | 'approvers' | 'approvalScheme'>;
  readonly source: ReleaseSource;
  readonly sourceReleaseId: string | null;
  readonly note: string | null;
}

type InsertReleaseOutcome =
  | { readonly status: 'inserted'; readonly release: ReleaseRecord }
  /** Another release has the id; it need not be visible. */
  | { readonly status: 'id_taken' };

const INSERT = /* sql */ `
  insert into releases (id, environment_id, rule_id, version_id, state, approvers, approval_scheme, source, source_release_id, note)
  values (
    cast(:id as uuid), cast(:environment_id as uuid), cast(:rule_id as uuid), cast(:version_id as uuid), 'pending',
    cast(:approvers as text[]), :approval_scheme, :source, cast(:source_release_id as uuid), :note
  )
  on conflict (id) do nothing
  returning id`;

/** Makes a pending release. The rule must be locked, and nothing of it may be pending in the environment. */
export const insertRelease = async (
  transaction: Transaction,
  { id, ruleId, versionId, environment, source, sourceReleaseId, note }: NewRelease,
): Promise<InsertReleaseOutcome> => {
  const [inserted] = await query(transaction, INSERT, {
    id,
    environment_id: environment.id,
    rule_id: ruleId,
    version_id: versionId,
    approvers: environment.approvers,
    approval_scheme: environment.approvalScheme,
    source,
    source_release_id: sourceReleaseId,
    note,
  });
  if (inserted === undefined) return { status: 'id_taken' };
  await recordReleaseChange(transaction, source === 'promotion' ? 'promote' : 'create', id, undefined);
  const release = await findRelease(transaction, id);
  return release ? { status: 'inserted', release } : { status: 'id_taken' };
};
