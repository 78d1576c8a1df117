export { findVisibleAround, type VisibleAround } from './contexts/definitions/visible-around';
export { asWorkspace } from './connection/as-workspace';
export { accessOfKey, type WorkspaceAccess } from './connection/workspace-access';
export { type Database, openDatabase } from './connection/database';
export { type DatabaseSettings } from './connection/database-settings';
export { type Transaction } from './connection/query';
export { refusesValues } from './connection/translate-error';
export { checkDatabase, checkServer } from './migrations/check-database';
export { createDatabase, dropDatabase } from './migrations/create-database';
export { ensureServiceLogin } from './migrations/ensure-runtime-role';
export { requireDatabase, type RequireDatabaseOptions } from './migrations/require-database';
export { findPendingMigrations } from './migrations/pending-migrations';
export { migrate, type Migrated, type MigrateSettings } from './migrations/migrate';
export { type Change, type ChangeKind, changeKinds } from './audit/change';
export { type AuditEntry, type AuditFilters, type AuditList, listAudit } from './audit/list-audit';
export { recordChange } from './audit/record-change';
export { type PageRequest } from './paging/page';
export { readCacheEntrySecret } from './workspaces/cache-entry-secret';
export { type EnsuredWorkspace, ensureWorkspace, type NewWorkspace } from './workspaces/ensure-workspace';
export { type ApiKeyRecord } from './keys/api-key-record';
export { createApiKey, type CreateApiKeyOutcome, type NewApiKey } from './keys/create-api-key';
export { findApiKey } from './keys/find-api-key';
export { type ApiKeyList, listApiKeys } from './keys/list-api-keys';
export { recordKeyUse } from './keys/record-key-use';
export { revokeApiKey } from './keys/revoke-api-key';
export {
  findKeyRole,
  findPredecessors,
  rotateApiKey,
  type RotateApiKeyOutcome,
  type Rotation,
} from './keys/rotate-api-key';
export { deleteFolder } from './folders/delete-folder';
export { type FolderRecord } from './folders/folder-record';
export { type FolderFilters, listFolders } from './folders/list-folders';
export { type SavedFolder, saveFolder, type SaveFolderOutcome } from './folders/save-folder';
export {
  deleteRole,
  type DeleteRoleOutcome,
  findRole,
  holdRole,
  listRoles,
  type RoleRecord,
  saveRole,
  type SaveRoleOutcome,
} from './roles/roles';
export {
  findWorkerFloor,
  readDesiredWorkers,
  setWorkerFloor,
  type WantedWorkers,
  type WorkerFloor,
} from './workers/worker-floors';
export { addUsage, type MonthlyUsage, readUsage, type UsageBatch } from './usage/usage';
export { type ChangedUser, deleteUser, updateUser, type UserChanges } from './users/change-user';
export { createUser, type CreateUserOutcome, type NewUser } from './users/create-user';
export {
  createInvitation,
  type CreateInvitationOutcome,
  findInvitation,
  type FoundInvitation,
  type InvitationRecord,
  listInvitations,
  type NewInvitation,
  takeInvitation,
} from './users/invitations';
export { type ListedUser, listUsers } from './users/list-users';
export {
  createUserGroup,
  type CreateUserGroupOutcome,
  findUnknownGroups,
  listUserGroups,
  type UserGroupRecord,
} from './users/user-groups';
export { type UserRecord } from './users/user-record';
export { type DeletedVersion, deleteRule, type DeleteRuleOutcome } from './rules/delete-rule';
export { findRule, type RuleName } from './rules/find-rule';
export { insertRule, type InsertRuleOutcome, type NewRule } from './rules/insert-rule';
export { listRules, type RuleFilters, type RuleList } from './rules/list-rules';
export { lockRule, type LockedRule } from './rules/lock-rule';
export { loadVersion, measureVersion } from './rules/load-version';
export { type NewVersion, type PublishedVersion, publishRule, type PublishRuleOutcome } from './rules/publish-rule';
export {
  findNumberedVersion,
  findRulePointer,
  resolveVersion,
  type ResolveVersionOutcome,
  type VersionSelector,
} from './rules/resolve-version';
export { type RuleDraft, type RuleRecord, type RuleSummary } from './rules/rule-record';
export { deleteTestResult, findTestResults, saveTestResults, type TestResult } from './rule-tests/test-results';
export { findTestSuite, findTestSuiteForChange, saveTestSuite, type TestSuite } from './rule-tests/test-suite';
export {
  areSameVersions,
  findInputKeys,
  listVersions,
  loadVersionDocument,
  publishVersionAgain,
  type VersionDetails,
  type VersionDocument,
  type VersionSummary,
} from './rules/rule-versions';
export {
  countOwedAnnouncements,
  finishAnnouncements,
  oweAnnouncement,
  type OwedAnnouncement,
  type OwedCount,
  type StoredAnnouncement,
  takeAnnouncements,
} from './announcements/announcements';
export { unpublishRule, type UnpublishRuleOutcome } from './rules/unpublish-rule';
export { type RuleChanges, updateRule, type UpdateConditions, type UpdateRuleOutcome } from './rules/update-rule';
export { type BoundValue, findBoundValues, findValues, type ValueNames, type ValuePurpose } from './values/find-values';
export { findValueUses, type RuleUse, type UsingRule } from './values/find-value-uses';
export { deleteValue, type DeleteValueOutcome } from './values/delete-value';
export { listValues, type ValueFilters, type ValueList } from './values/list-values';
export { findValueRevision, type LoadedValues, loadValues } from './values/load-values';
export { type SavedValue, saveValues, type SaveValuesOptions, type SaveValuesOutcome } from './values/save-values';
export { updateValue, type UpdateValueOutcome, type ValueChanges } from './values/update-value';
export {
  type ApprovalScheme,
  type EnvironmentRecord,
  type EnvironmentSettings,
  type SavedEnvironment,
} from './releases/environment-record';
export { listEnvironments } from './releases/list-environments';
export { MAX_ENVIRONMENTS, saveEnvironment, type SaveEnvironmentOutcome } from './releases/save-environment';
export { endRelease, type EndState, goLive, putBack, recordApproval } from './releases/change-release';
export { findPins, type PinnedRule } from './releases/find-pins';
export { findOpenReleases, findRelease, findReleaseForChange, findRollback } from './releases/find-release';
export { insertRelease, type InsertReleaseOutcome, type NewRelease } from './releases/insert-release';
export { listReleases, type ReleaseFilters, type ReleaseList } from './releases/list-releases';
export {
  type ReleaseApproval,
  type ReleaseRecord,
  type ReleaseSource,
  type ReleaseState,
} from './releases/release-record';
export { type ManagingObject, type ValueRecord } from './values/value-record';
export { type ManagedRefusal } from './values/managed-refusal';
export { deleteObject, type DeleteObjectOutcome, type ValueFate } from './objects/delete-object';
export {
  findLeftValues,
  findManagedValues,
  findTakenNames,
  type ManagedPurpose,
  type TakenName,
} from './objects/find-managed-values';
export { findObject, type ObjectName, type ObjectPurpose } from './objects/find-object';
export { findObjectFields, type ObjectFields, type ObjectNames } from './objects/find-object-fields';
export { type ArchivedUse, findArchivedUses } from './objects/find-archived-uses';
export { listObjects, type ObjectList } from './objects/list-objects';
export { type ManagedChange, type ManagedKey, type ManagedValue, type ValuePlan } from './objects/managed-value';
export { type ObjectContentType, type ObjectRecord } from './objects/object-record';
export { type ValueOwner, writeManagedValues, type WriteManagedValuesOutcome } from './objects/write-managed-values';
export {
  insertObject,
  type InsertObjectOutcome,
  type SavedObject,
  updateObject,
  type UpdateObjectConditions,
  type UpdateObjectOutcome,
} from './objects/write-object';
export { findReferringValues, type ReferringValue } from './values/find-referring-values';
export { type ReferenceView, resolveReferences } from './values/resolve-references';
export { isValueReference, referencesIn, type ValueReference } from './values/value-reference';
export { type ComparedValue, compareValues } from './values/sync/compare-values';
export {
  completeSync,
  openSync,
  type OpenSyncOutcome,
  rememberMembers,
  type SyncRun,
  takeTurns,
} from './values/sync/open-sync';
export { recordSync, type SyncChange } from './values/sync/record-sync';
export {
  type AbsentMember,
  archiveValues,
  deleteValues,
  findAbsentMembers,
  type PresentMembers,
} from './values/sync/sweep-collection';
export {
  type ContextRecord,
  type ContextSettings,
  type RelationshipRecord,
} from './contexts/definitions/context-record';
export {
  changeContexts,
  findContextRevision,
  holdContext,
  loadContextWorld,
  lockContextWorld,
  type StoredContextWorld,
} from './contexts/definitions/context-world';
export {
  type ContextFilters,
  type ContextList,
  type ContextName,
  deleteContext,
  type DeletedContext,
  findContext,
  findContextByName,
  findCreatedLike,
  insertContext,
  type InsertContextOutcome,
  listContexts,
  type ListedContext,
  type NewContext,
  updateContext,
} from './contexts/definitions/contexts';
export {
  deleteRelationship,
  insertRelationship,
  type InsertRelationshipOutcome,
  type NewRelationship,
} from './contexts/definitions/relationships';
export {
  dropForeignKey,
  findForeignKeys,
  findUnfinishedForeignKeys,
  type ForeignKeyHolder,
  type ForeignKeyName,
  type ForeignKeyProgress,
  type ForeignKeyState,
  lockForeignKey,
  lockForeignKeyHolders,
  registerForeignKey,
  saveForeignKey,
  type WorkspaceForeignKey,
} from './contexts/definitions/foreign-keys';
export {
  type BoundRuleRecord,
  type ContextInForce,
  type CollectionGroups,
  findCollectionGroups,
  findContextInForce,
  findBoundRules,
  loadCollections,
  saveCollectionGroups,
  loadRuleInterface,
  type RuleInterface,
  unbindRules,
} from './contexts/definitions/bound-rules';
export {
  type InstanceRecord,
  type ReaderPass,
  type StoredExecutions,
  type StoredFacts,
} from './contexts/instance-record';
export { type InstancesToLock, type LockedInstance, lockInstances } from './contexts/lock-instances';
export {
  type Admission,
  type InstanceWrite,
  writeBackInstances,
  writeInstances,
  type WriteOptions,
  type WrittenInstance,
} from './contexts/write-instances';
export { type HeldInstances, releaseInstances, renewLease } from './contexts/fence';
export { type CommitOutcome, findCommitOutcome, type WrittenRow } from './contexts/commit-outcome';
export { type DirectlyMerged, type DirectMerge, mergeDirect } from './contexts/merge-direct';
export {
  deleteInstance,
  findHeldFacts,
  findInstances,
  type InstanceFilters,
  type InstancePage,
  listInstances,
  type PassOfVersion,
  saveReaderPasses,
} from './contexts/instances';
export {
  addHistory,
  findHistory,
  type HistoryAddition,
  type InstanceHistories,
  type StoredHistoryEntry,
} from './contexts/history';
export {
  findLinkHolders,
  findLinkTargets,
  findNamed,
  forgetFormerLinks,
  type LinkEnds,
  type LinkQuery,
  type LinkWrite,
  type NamedQuery,
  type NamedRecord,
  writeLinks,
} from './contexts/links';
export {
  findVersions,
  forgetUntold,
  markUntold,
  saveUntoldProgress,
  takeUntold,
  type UntoldInstance,
  type UntoldProgress,
} from './contexts/untold';
export {
  findRelatedPieces,
  type RelatedPiece,
  type RelatedPiecesQuery,
  type WantedFact,
} from './contexts/related-pieces';
export { endRegistrations, findRegistrations, registerEvaluation, type Registration } from './contexts/registrations';
export { findTurns, renewTickets, returnTickets, takeTickets, type Ticket } from './contexts/tickets';
export {
  type ContextRemoval,
  forgetStaleTickets,
  removeContextStep,
  type StepBounds,
  sweepExpiredInstances,
  type SweptRows,
  type TakenOperation,
  takeOverOperations,
} from './contexts/instance-upkeep';
