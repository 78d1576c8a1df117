/** Whether one approver is enough, or each is needed. */
export type ApprovalScheme = 'any' | 'all';

/** Settings of an environment. */
interface EnvironmentSettings {
  /** How a solve names it; unique in the workspace. */
  readonly slug: string;
  readonly name: string;
  /** From 1. Releases are promoted from one level to the next higher one that there is. */
  readonly level: number;
  /** `role:<name>` or `key:<id>`. Empty: releases go live without approval. */
  readonly approvers: readonly string[];
  readonly approvalScheme: ApprovalScheme;
  /** False: takes only releases that are promoted from a lower level, where there is one. */
  readonly directReleases: boolean;
}

/** Changes of an environment; absent parts of one that exists stay as they are, and a new one takes the defaults. */
export type SavedEnvironment = Pick<EnvironmentSettings, 'slug'> & {
  readonly [part in Exclude<keyof EnvironmentSettings, 'slug'>]?: EnvironmentSettings[part] | undefined;
};

/** An environment. Times are ISO 8601 UTC with milliseconds. */
export interface EnvironmentRecord extends EnvironmentSettings {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly updatedBy: string | null;
}

export interface EnvironmentRow {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly level: number;
  readonly approvers: string[];
  readonly approval_scheme: ApprovalScheme;
  readonly direct_releases: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly updated_by: string | null;
}

export const environmentColumns =
  'id, slug, name, level, approvers, approval_scheme, direct_releases, created_at, updated_at, updated_by';

export const toEnvironmentRecord = (row: EnvironmentRow): EnvironmentRecord => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  level: row.level,
  approvers: row.approvers,
  approvalScheme: row.approval_scheme,
  directReleases: row.direct_releases,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  updatedBy: row.updated_by,
});
