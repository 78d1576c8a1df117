export {
  type ContextDefinition,
  type ContextWorld,
  holderOf,
  type Relationship,
} from './definitions/context-definition';
export { type ContextModel } from './definitions/context-model';
export { type ContextProblem } from './definitions/context-problem';
export { compileContext } from './definitions/compile-context';
export { refusalsOfChange } from './definitions/schema-change';
export { type Facts, hasValue, valueOf } from './facts/facts';
export { canonicalJson, sameValue } from './facts/canonical-json';
export { checkRecord, type Collections, isRecord, type Mismatch, MOST_MISMATCHES } from './instances/check-record';
export { mergeFacts } from './facts/merge-facts';
export { identityValueOf, linkedInstance } from './facts/instance-id';
export { type ResolvedInstance, resolveInstance, withDefaults } from './instances/resolved-instance';
export { type Aggregates, aggregatesOver, RelationFolds, type RelationAggregates } from './derived/aggregates';
export { type DerivationSources, type RelatedInstances } from './derived/derive-facts';
export { historyOfChange } from './derived/history';
export { assetKey, type BoundAsset, factsRead, factsWritten, relationsRead } from './assets/bound-asset';
export { bindingGroundOf, faultsOfBinding } from './assets/check-binding';
export { isReady } from './assets/readiness';
export { waitingOn } from './assets/waiting-on';
export {
  type AssetAnswer,
  type AssetRun,
  type Executions,
  type SettlePorts,
  type SettleTask,
  type Settled,
} from './rounds/settle-task';
export { disownFacts } from './rounds/execution-record';
export { settle } from './rounds/settle';
export { TriedMemory } from './rounds/tried-memory';
export { hasRun, type Outcome, outcomeOf } from './rounds/outcome';
export { readInclude } from './batches/include';
export {
  type GivenInstance,
  groupRecords,
  RejectionList,
  type Rejection,
  sentenceOf,
  UnreadableRecord,
} from './batches/group-records';
export { foreignKeysOf, linksOf } from './links/foreign-keys';
export { readersThrough, relationsInUse } from './links/readers';
