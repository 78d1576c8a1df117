import { type ReleaseRecord } from '@decision/persistence';

/** A caller that wants to approve. */
export interface Approver {
  /** The key, and those whose place it has taken by rotation. */
  readonly keyIds: readonly string[];
  readonly role: string;
}

/** The approvers of a release, `key:<id>` or `role:<name>`, for whom somebody can stand. */
export const standsFor = (approvers: readonly string[], { keyIds, role }: Approver): readonly string[] => {
  const names = new Set([`role:${role}`, ...keyIds.map((id) => `key:${id}`)]);
  return approvers.filter((approver) => names.has(approver));
};

/** The approvers of whom one (`any`) or each (`all`) has yet to agree; none where the release may go live. */
export const waitingFor = ({
  approvers,
  approvalScheme,
  approvals,
}: Pick<ReleaseRecord, 'approvers' | 'approvalScheme' | 'approvals'>): readonly string[] => {
  const agreed = new Set(approvals.flatMap((approval) => approval.standsFor));
  const missing = approvers.filter((approver) => !agreed.has(approver));
  switch (approvalScheme) {
    case 'all':
      return missing;
    case 'any':
      return missing.length < approvers.length ? [] : approvers;
  }
};
