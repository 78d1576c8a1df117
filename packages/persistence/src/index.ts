export * from './announcements/announcements';
export { type AssetRecord, type AssetSummary, type RuleRecord, type RuleSummary } from './assets/asset-record';
export * from './assets/asset-versions';
export { findContextLogging, findVersionLogging } from './assets/logging-settings';
export {
  type AssetChanges,
  deleteAsset,
  type DeleteAssetOutcome,
  findAsset,
  insertAsset,
  lockAsset,
  type LockedAsset,
  type NewAsset,
  updateAsset,
} from './assets/assets';
export * from './assets/followed-versions';
export { loadFlowVersion } from './assets/flow-uses';
export * from './assets/list-assets';
export * from './assets/publish-asset';
export {
  findVisibleAssets,
  loadSubflows,
  resolveAssets,
  type ResolvedAsset,
  type StoredSubflow,
} from './assets/resolve-assets';
export * from './audit/list-audit';
export { recordChange } from './audit/record-change';
export { asWorkspace, type WorkspaceAccess } from './connection/access';
export * from './connection/database';
export * from './connection/database-settings';
export { type Transaction } from './connection/query';
export { together } from './connection/together';
export { ranTooLong, refusesValues } from './connection/translate-error';
export {
  findTurns,
  type HeldInstances,
  type LockedInstance,
  lockInstances,
  releaseInstances,
  renewLease,
  renewTickets,
  returnTickets,
  takeTickets,
} from './contexts/admission';
export {
  type CommitOutcome,
  findCommitOutcome,
  findOperation,
  type OperationFound,
  type WrittenRow,
} from './contexts/commit-outcome';
export {
  type BoundAssetRecord,
  type ContextInForce,
  findBoundAssets,
  findContextInForce,
  loadAssetInterface,
  type AssetInterface,
  unbindAssets,
} from './contexts/definitions/bound-assets';
export {
  findCollectionGroups,
  findMembers,
  loadCollections,
  saveCollectionGroups,
} from './contexts/definitions/collections';
export {
  type ContextFilters,
  type ContextRecord,
  type ContextSettings,
  deleteContext,
  findContext,
  findContextByName,
  findCreatedLike,
  insertContext,
  listContexts,
  type ListedContext,
  type NewContext,
  type RelationshipRecord,
  updateContext,
} from './contexts/definitions/contexts';
export {
  changeContexts,
  findContextRevision,
  findVisibleAround,
  holdContext,
  loadContextWorld,
  lockContextWorld,
  type StoredContextWorld,
  type VisibleAround,
} from './contexts/definitions/context-world';
export {
  deleteRelationship,
  dropForeignKey,
  findForeignKeys,
  findUnfinishedForeignKeys,
  type ForeignKeyName,
  insertRelationship,
  lockForeignKey,
  lockForeignKeyHolders,
  type NewRelationship,
  registerForeignKey,
  saveForeignKey,
} from './contexts/definitions/relationships';
export { findEntityWrites, forgetEntityWrites, recordEntityWrites } from './contexts/entity-writes';
export { addHistory, findHistory, type HistoryAddition } from './contexts/history';
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
export {
  deleteInstance,
  findHeldFacts,
  findInstances,
  type InstanceRecord,
  listInstances,
  type ReaderPass,
  saveReaderPasses,
} from './contexts/instances';
export {
  findLinkHolders,
  findLinkTargets,
  findNamed,
  findRelatedPieces,
  forgetFormerLinks,
  type LinkEnds,
  type LinkWrite,
  type RelatedPiece,
  type RelatedPiecesQuery,
  type WantedFact,
  writeLinks,
} from './contexts/links';
export {
  findVersions,
  markPendingCascades,
  type PendingCascade,
  removePendingCascades,
  savePendingProgress,
  takePendingCascades,
} from './contexts/pending-cascades';
export { findWaitingCircle } from './contexts/waiting-circles';
export { endRegistrations, findRegistrations, registerEvaluation, type Registration } from './contexts/registrations';
export {
  type Admission,
  type DirectlyMerged,
  type InstanceWrite,
  mergeDirect,
  writeBackInstances,
  writeInstances,
  type WrittenInstance,
} from './contexts/write-instances';
export {
  dropDecisionDay,
  lacksDecisionDay,
  listDecisionDays,
  makeDecisionDay,
  refusesDecisions,
} from './decisions/decision-days';
export { eraseDecisions } from './decisions/erase-decisions';
export { decisionIdOf } from './decisions/decision-ids';
export { findReadableTraces, findSeenNames } from './decisions/decision-visibility';
export { countDecisions, findDecision } from './decisions/query-decisions';
export { readDecisionPage, readDecisions } from './decisions/read-decisions';
export { summariseDecisions } from './decisions/summarise-decisions';
export { findMissingMessages, forgetSequences } from './decisions/sequences';
export {
  forgetQuarantined,
  quarantineDecisions,
  type QuarantinedMessage,
  storeDecisions,
} from './decisions/store-decisions';
export * from './folders/folders';
export * from './keys/api-keys';
export { checkDatabase, checkServer, requireDatabase } from './migrations/check-database';
export * from './migrations/create-database';
export { ensureServiceLogin } from './migrations/ensure-runtime-role';
export * from './migrations/migrate';
export {
  addNotifications,
  countNotifications,
  countWaitingNotifications,
  endNotification,
  type NewNotification,
  purgeNotifications,
  takeNotifications,
} from './notifications/notifications';
export * from './objects/managed-values';
export * from './objects/objects';
export { type PageRequest } from './paging/page';
export { findAdmin, findPerson, type PersonMetadata, type PersonRecord } from './people/people';
export {
  ensureAdmin,
  type ProvisionedIdentity,
  type ProvisionedPerson,
  provisionPerson,
} from './people/provision-person';
export { applyMapping, readSsoRoleMapping, saveSsoRoleMapping } from './people/sso-mapping';
export * from './releases/change-release';
export * from './releases/environments';
export {
  findOpenReleases,
  findPins,
  findRelease,
  findReleaseForChange,
  findRollback,
  listReleases,
  type PinnedAsset,
} from './releases/releases';
export * from './roles/roles';
export {
  admitSignIn,
  clearTotp,
  confirmTotp,
  createUserLink,
  offerUserLink,
  describeCredentials,
  findPendingTotp,
  findSignIn,
  findUserLink,
  noteSignIn,
  saveRecoveryCodes,
  setPassword,
  setTotp,
  takeRecoveryCode,
  takeTotpStep,
  takeUserLink,
} from './sessions/credentials';
export * from './sessions/sessions';
export { listSignIns, type NewSignIn, recordSignIn } from './sessions/sign-ins';
export * from './asset-tests/asset-tests';
export * from './usage/usage';
export * from './users/invitations';
export * from './users/user-groups';
export * from './users/users';
export * from './values/load-values';
export * from './values/sync-values';
export {
  findReferringValues,
  findValueUses,
  isValueReference,
  referencesIn,
  resolveReferences,
  type AssetUse,
  type ValueReference,
} from './values/value-references';
export { type BoundValue, findBoundValues, findValues, listValues } from './values/values';
export {
  deleteValue,
  type ManagedRefusal,
  type SavedValue,
  saveValues,
  type SaveValuesOptions,
  updateValue,
} from './values/write-values';
export * from './workers/worker-floors';
export * from './workspaces/workspaces';
