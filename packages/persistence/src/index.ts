export { findVisibleAround, type VisibleAround } from './contexts/definitions/visible-around';
export { asWorkspace } from './connection/as-workspace';
export { type WorkspaceAccess } from './connection/workspace-access';
export { type Database, openDatabase } from './connection/database';
export { type DatabaseSettings } from './connection/database-settings';
export { type Transaction } from './connection/query';
export { refusesValues } from './connection/translate-error';
export { checkDatabase, checkServer } from './migrations/check-database';
export { createDatabase, dropDatabase } from './migrations/create-database';
export { ensureServiceLogin } from './migrations/ensure-runtime-role';
export { requireDatabase } from './migrations/require-database';
export { findPendingMigrations } from './migrations/pending-migrations';
export { migrate } from './migrations/migrate';
export { type AuditEntry, type AuditFilters, listAudit } from './audit/list-audit';
export { recordChange } from './audit/record-change';
export { type PageRequest } from './paging/page';
export { readCacheEntrySecret } from './workspaces/cache-entry-secret';
export { ensureWorkspace } from './workspaces/ensure-workspace';
export { type ApiKeyRecord } from './keys/api-key-record';
export { createApiKey, type NewApiKey } from './keys/create-api-key';
export { findApiKey } from './keys/find-api-key';
export { listApiKeys } from './keys/list-api-keys';
export { recordKeyUse } from './keys/record-key-use';
export { revokeApiKey } from './keys/revoke-api-key';
export { findKeyRole, findPredecessors, rotateApiKey, type RotateApiKeyOutcome } from './keys/rotate-api-key';
export { deleteFolder } from './folders/delete-folder';
export { type FolderRecord } from './folders/folder-record';
export { listFolders } from './folders/list-folders';
export { saveFolder } from './folders/save-folder';
export { deleteRole, findRole, holdRole, listRoles, type RoleRecord, saveRole } from './roles/roles';
export {
  findWorkerFloor,
  readDesiredWorkers,
  setWorkerFloor,
  type WantedWorkers,
  type WorkerFloor,
} from './workers/worker-floors';
export { addUsage, type MonthlyUsage, readUsage, type UsageBatch } from './usage/usage';
export { deleteUser, updateUser } from './users/change-user';
export { createUser, type NewUser } from './users/create-user';
export {
  createInvitation,
  findInvitation,
  type FoundInvitation,
  type InvitationRecord,
  listInvitations,
  type NewInvitation,
  takeInvitation,
} from './users/invitations';
export { type ListedUser, listUsers } from './users/list-users';
export { createUserGroup, findUnknownGroups, listUserGroups, type UserGroupRecord } from './users/user-groups';
export { type UserRecord } from './users/user-record';
export { deleteRule, type DeleteRuleOutcome } from './rules/delete-rule';
export { findRule } from './rules/find-rule';
export { insertRule, type NewRule } from './rules/insert-rule';
export { listRules, type RuleFilters, type RuleList } from './rules/list-rules';
export { lockRule, type LockedRule } from './rules/lock-rule';
export { loadVersion, measureVersion } from './rules/load-version';
export { publishRule, type PublishRuleOutcome } from './rules/publish-rule';
export { findNumberedVersion, findRulePointer } from './rules/resolve-version';
export { type RuleDraft, type RuleRecord, type RuleSummary } from './rules/rule-record';
export { deleteTestResult, findTestResults, saveTestResults, type TestResult } from './rule-tests/test-results';
export { findTestSuite, findTestSuiteForChange, saveTestSuite } from './rule-tests/test-suite';
export {
  areSameVersions,
  findInputKeys,
  listVersions,
  loadVersionDocument,
  publishVersionAgain,
  type VersionDocument,
} from './rules/rule-versions';
export {
  countOwedAnnouncements,
  finishAnnouncements,
  oweAnnouncement,
  type OwedAnnouncement,
  type OwedCount,
  takeAnnouncements,
} from './announcements/announcements';
export { unpublishRule } from './rules/unpublish-rule';
export { type RuleChanges, updateRule } from './rules/update-rule';
export { type BoundValue, findBoundValues, findValues } from './values/find-values';
export { findValueUses, type RuleUse } from './values/find-value-uses';
export { deleteValue } from './values/delete-value';
export { listValues } from './values/list-values';
export { findValueRevision, type LoadedValues, loadValues } from './values/load-values';
export { type SavedValue, saveValues, type SaveValuesOptions } from './values/save-values';
export { updateValue } from './values/update-value';
export { type EnvironmentRecord } from './releases/environment-record';
export { listEnvironments } from './releases/list-environments';
export { MAX_ENVIRONMENTS, saveEnvironment } from './releases/save-environment';
export { endRelease, goLive, putBack, recordApproval } from './releases/change-release';
export { findPins, type PinnedRule } from './releases/find-pins';
export { findOpenReleases, findRelease, findReleaseForChange, findRollback } from './releases/find-release';
export { insertRelease, type NewRelease } from './releases/insert-release';
export { listReleases } from './releases/list-releases';
export { type ReleaseRecord } from './releases/release-record';
export { type ValueRecord } from './values/value-record';
export { type ManagedRefusal } from './values/managed-refusal';
export { deleteObject, type ValueFate } from './objects/delete-object';
export { findLeftValues, findManagedValues, findTakenNames, type TakenName } from './objects/find-managed-values';
export { findObject } from './objects/find-object';
export { findObjectFields, type ObjectFields } from './objects/find-object-fields';
export { type ArchivedUse, findArchivedUses } from './objects/find-archived-uses';
export { listObjects } from './objects/list-objects';
export { type ManagedChange, type ManagedKey, type ManagedValue, type ValuePlan } from './objects/managed-value';
export { type ObjectContentType, type ObjectRecord } from './objects/object-record';
export { type ValueOwner, writeManagedValues } from './objects/write-managed-values';
export { insertObject, type SavedObject, updateObject } from './objects/write-object';
export { findReferringValues } from './values/find-referring-values';
export { resolveReferences } from './values/resolve-references';
export { isValueReference, referencesIn, type ValueReference } from './values/value-reference';
export { type ComparedValue, compareValues } from './values/sync/compare-values';
export { completeSync, openSync, type OpenSyncOutcome, rememberMembers, takeTurns } from './values/sync/open-sync';
export { recordSync } from './values/sync/record-sync';
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
  deleteContext,
  findContext,
  findContextByName,
  findCreatedLike,
  insertContext,
  listContexts,
  type ListedContext,
  type NewContext,
  updateContext,
} from './contexts/definitions/contexts';
export { deleteRelationship, insertRelationship, type NewRelationship } from './contexts/definitions/relationships';
export {
  dropForeignKey,
  findForeignKeys,
  findUnfinishedForeignKeys,
  type ForeignKeyName,
  lockForeignKey,
  lockForeignKeyHolders,
  registerForeignKey,
  saveForeignKey,
} from './contexts/definitions/foreign-keys';
export {
  type BoundRuleRecord,
  type ContextInForce,
  findCollectionGroups,
  findContextInForce,
  findBoundRules,
  loadCollections,
  saveCollectionGroups,
  loadRuleInterface,
  type RuleInterface,
  unbindRules,
} from './contexts/definitions/bound-rules';
export { type InstanceRecord, type ReaderPass } from './contexts/instance-record';
export { type LockedInstance, lockInstances } from './contexts/lock-instances';
export {
  type Admission,
  type InstanceWrite,
  writeBackInstances,
  writeInstances,
  type WrittenInstance,
} from './contexts/write-instances';
export { type HeldInstances, releaseInstances, renewLease } from './contexts/fence';
export { type CommitOutcome, findCommitOutcome, type WrittenRow } from './contexts/commit-outcome';
export { type DirectlyMerged, mergeDirect } from './contexts/merge-direct';
export { deleteInstance, findHeldFacts, findInstances, listInstances, saveReaderPasses } from './contexts/instances';
export { addHistory, findHistory, type HistoryAddition, type StoredHistoryEntry } from './contexts/history';
export {
  findLinkHolders,
  findLinkTargets,
  findNamed,
  forgetFormerLinks,
  type LinkEnds,
  type LinkWrite,
  writeLinks,
} from './contexts/links';
export {
  findVersions,
  forgetUntold,
  markUntold,
  saveUntoldProgress,
  takeUntold,
  type UntoldInstance,
} from './contexts/untold';
export {
  findRelatedPieces,
  type RelatedPiece,
  type RelatedPiecesQuery,
  type WantedFact,
} from './contexts/related-pieces';
export { endRegistrations, findRegistrations, registerEvaluation, type Registration } from './contexts/registrations';
export { findTurns, renewTickets, returnTickets, takeTickets } from './contexts/tickets';
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
