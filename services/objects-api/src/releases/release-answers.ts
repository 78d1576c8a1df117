import { type AssetKind, Release, type ReleaseRecord, ServiceError, toShown } from '@decision/contracts';

/** A release as answers show it. */
export const toRelease = ({ asset: { kind, ...asset }, environment, approvals, ...release }: ReleaseRecord): Release =>
  toShown(Release, {
    ...release,
    ...(kind === 'rule' ? { rule: asset } : { flow: asset }),
    ...{ environment: environment.slug, level: environment.level },
    approvals: approvals.map(({ approvedBy, standsFor, approvedAt }) => ({
      ...{ approved_by: approvedBy, stands_for: [...standsFor], approved_at: approvedAt },
    })),
    waitingFor: release.state === 'pending' ? waitingFor({ ...release, approvals }) : [],
  });

export const releaseNotFound = (id: string): ServiceError =>
  new ServiceError('release_not_found', `No release with the id ${id} is visible to this key.`, { id });

export const environmentNotFound = (slug: string, known: readonly string[]): ServiceError =>
  new ServiceError(
    'environment_not_found',
    `No environment has the slug "${slug}"; ${known.length === 0 ? 'there are none yet' : `there are ${known.join(', ')}`}.`,
    { environment: slug, environments: known },
  );

/** The environment may exist; the rule or flow has nothing in it. */
export const nothingLive = (kind: AssetKind, slug: string, selector: string): ServiceError =>
  new ServiceError(
    'environment_not_found',
    `Nothing of the ${kind} "${slug}" is live in an environment "${selector}"; a version is "latest", a number or an environment's slug.`,
    { slug, environment: selector },
  );

/** `sentence` says which action is impossible and which is possible. */
export const releaseConflict = ({ id, state }: Pick<ReleaseRecord, 'id' | 'state'>, sentence: string): ServiceError =>
  new ServiceError('release_conflict', sentence, { release_id: id, state });

/** A caller that tries to approve. */
export interface Approver {
  /** The key and its predecessors by rotation; none for a person. */
  readonly keyIds: readonly string[];
  /** Undefined for a key. */
  readonly userId?: string | undefined;
  readonly role: string;
}

/** The approvers of a release, `key:<id>`, `user:<id>` or `role:<name>`, that a caller can act for. */
export const standsFor = (approvers: readonly string[], { keyIds, userId, role }: Approver): readonly string[] => {
  const own = userId === undefined ? keyIds.map((id) => `key:${id}`) : [`user:${userId}`];
  const names = new Set([`role:${role}`, ...own]);
  return approvers.filter((approver) => names.has(approver));
};

/** The approvers of whom one (`any`) or each (`all`) has yet to approve; none if the release may go live. */
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
