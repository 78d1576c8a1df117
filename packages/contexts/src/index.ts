export {
  type ContextDefinition,
  type ContextModel,
  type ContextProblem,
  type ContextWorld,
  holderOf,
  type Relationship,
} from './definitions/context-model';
export { readSchema } from './definitions/read-schema';
export { compileContext } from './definitions/compile-context';
export { refusalsOfChange } from './definitions/schema-change';
export { canonicalJson, type Facts, hasValue, mergeFacts, sameValue, valueOf } from './facts/facts';
export {
  checkRecord,
  type Collections,
  isRecord,
  type Mismatch,
  MOST_MISMATCHES,
  sentenceOf,
} from './instances/check-record';
export { identityValueOf, linkedInstance, readIdentity } from './facts/instance-id';
export {
  type DerivedState,
  deriveState,
  describeState,
  type ResolvedInstance,
  resolveInstance,
  withDefaults,
} from './instances/resolved-instance';
export { type Aggregates, aggregatesOver, RelationFolds } from './derived/aggregates';
export {
  type DerivationSources,
  historyOfChange,
  type HistorySource,
  noHistory,
  type RelatedInstances,
  withChange,
} from './derived/derive-facts';
export {
  assetKey,
  bindingGroundOf,
  type BoundAsset,
  factsRead,
  factsWritten,
  faultsOfBinding,
  relationsRead,
} from './assets/bound-asset';
export { isReady, waitingOn } from './assets/readiness';
export {
  type AssetAnswer,
  type AssetRun,
  type Executions,
  hasRun,
  type Outcome,
  outcomeOf,
  type Settled,
  type SettlePorts,
  type SettleTask,
  type SettlingInstance,
  TriedMemory,
} from './rounds/settle-task';
export { disownFacts } from './rounds/write-outputs';
export { lookAhead, settle } from './rounds/settle';
export {
  type GivenInstance,
  groupRecords,
  readInclude,
  type Rejection,
  RejectionList,
  UnreadableRecord,
} from './batches/group-records';
export { foreignKeysOf, linksOf, readersThrough, relationsInUse } from './links/links';
