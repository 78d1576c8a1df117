/** On whose behalf a transaction reads and writes. Row security shows it nothing else. */
export interface WorkspaceAccess {
  readonly workspaceId: string;
  /** Undefined: not restricted. Else only what shares a group with these is seen; an empty list sees nothing that has groups. */
  readonly userGroups: readonly string[] | undefined;
  /** Author of changes in the audit. */
  readonly actor?: string;
  /** From where the changes come, for the audit. */
  readonly origin?: { readonly address?: string | undefined; readonly requestId?: string | undefined } | undefined;
}
