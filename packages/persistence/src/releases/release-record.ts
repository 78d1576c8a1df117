import { type ApprovalScheme } from './environment-record';

/** `docs/specs/releases.md` says what each means and how one becomes another. */
export type ReleaseState = 'pending' | 'live' | 'superseded' | 'rolled_back' | 'withdrawn' | 'cancelled';

/** How a release came about. */
export type ReleaseSource = 'direct' | 'promotion' | 'rollback';

/** An approval. */
interface ReleaseApproval {
  readonly approvedBy: string;
  /** The approvers of the release for whom it stands. */
  readonly standsFor: readonly string[];
  readonly approvedAt: string;
}

/** One version of a rule on its way into, in, or out of an environment. Times are ISO 8601 UTC with milliseconds. */
export interface ReleaseRecord {
  readonly id: string;
  readonly rule: { readonly id: string; readonly slug: string; readonly name: string };
  readonly environment: { readonly id: string; readonly slug: string; readonly level: number };
  readonly versionId: string;
  readonly version: number;
  readonly state: ReleaseState;
  /** As the environment had them when the release was made. */
  readonly approvers: readonly string[];
  readonly approvalScheme: ApprovalScheme;
  /** In the order in which they came. */
  readonly approvals: readonly ReleaseApproval[];
  readonly source: ReleaseSource;
  /** The release that was promoted or rolled back. */
  readonly sourceReleaseId: string | null;
  /** The release that was live before this one. */
  readonly previousReleaseId: string | null;
  readonly note: string | null;
  readonly createdAt: string;
  readonly createdBy: string | null;
  readonly liveAt: string | null;
  readonly endedAt: string | null;
  readonly endedBy: string | null;
}
