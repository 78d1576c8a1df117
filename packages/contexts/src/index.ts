export {
  type ContextDefinition,
  type ContextWorld,
  holderOf,
  type Relationship,
} from './definitions/context-definition';
export { type ContextModel, type DerivedModel, type FactModel } from './definitions/context-model';
export {
  type ContextProblem,
  type ContextProblemCode,
  contextProblemCodes,
  MAX_CONTEXT_PROBLEMS,
} from './definitions/context-problem';
export { compileContext, type ContextCompilation } from './definitions/compile-context';
export { type ChangeRefusal, type LivingContext, refusalsOfChange } from './definitions/schema-change';
export { type FormulaReads } from './definitions/formula-reads';
export { type Facts, hasValue, NO_FACTS, valueOf } from './facts/facts';
export { faultOfFactName } from './facts/fact-name';
export { canonicalJson, sameValue } from './facts/canonical-json';
export {
  checkRecord,
  type Collections,
  isRecord,
  type Mismatch,
  MOST_MISMATCHES,
  type RecordCheck,
} from './instances/check-record';
export { mergeFacts, type Merged } from './facts/merge-facts';
export {
  faultOfInstanceId,
  identityValueOf,
  type IdentityFact,
  type IdentityReading,
  linkedInstance,
  readIdentity,
} from './facts/instance-id';
export { expiryAfterWrite, isExpired } from './instances/expiry';
export { type ResolvedInstance, resolveInstance, withDefaults } from './instances/resolved-instance';
export {
  type AggregateAnswer,
  type Aggregates,
  aggregatesOver,
  type RelationAggregates,
  RelationFolds,
} from './derived/aggregates';
export { type RelationAggregate } from './definitions/separate-aggregates';
export {
  deriveFacts,
  type Derivation,
  type DerivationFailure,
  type DerivationSources,
  type RelatedInstances,
} from './derived/derive-facts';
export { historyOfChange, type HistoryEntry, type HistorySource, noHistory, trimHistory } from './derived/history';
export {
  assetKey,
  type AssetInput,
  type BoundAsset,
  factsRead,
  factsWritten,
  relationsRead,
} from './assets/bound-asset';
export { type BindingFault, bindingGroundOf, type BindingGround, faultsOfBinding } from './assets/check-binding';
export { factsAwaited, isReady } from './assets/readiness';
export { waitingOn, type WaitingInstance } from './assets/waiting-on';
export {
  type AssetAnswer,
  type AssetRun,
  type Executions,
  type SettleEnd,
  type SettlePorts,
  type SettleTask,
  type Settled,
} from './rounds/settle-task';
export { disownFacts } from './rounds/execution-record';
export { settle } from './rounds/settle';
export { TriedMemory } from './rounds/tried-memory';
export { hasRun, type Outcome, outcomeOf, type OutcomeSurroundings } from './rounds/outcome';
export { type IncludeReading, readInclude } from './batches/include';
export {
  type GivenInstance,
  groupRecords,
  type GroupedRecords,
  REJECTION_BYTES,
  RejectionList,
  type Rejection,
  sentenceOf,
  UnreadableRecord,
} from './batches/group-records';
export { foreignKeysOf, linksOf } from './links/foreign-keys';
export { type ReaderPlace, readersThrough, relationsInUse } from './links/readers';
