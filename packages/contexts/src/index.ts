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
export { type FormulaReads } from './definitions/formula-reads';
export { type Facts, hasValue, NO_FACTS, valueOf } from './facts/facts';
export { faultOfFactName } from './facts/fact-name';
export { canonicalJson, sameValue } from './facts/canonical-json';
export { checkRecord, type Collections, isRecord, type Mismatch, type RecordCheck } from './facts/check-record';
export { mergeFacts, type Merged } from './facts/merge-facts';
export {
  faultOfInstanceId,
  identityValueOf,
  type IdentityFact,
  type IdentityReading,
  readIdentity,
} from './instances/instance-id';
export { expiryAfterWrite, isExpired } from './instances/expiry';
export { type ResolvedInstance, resolveInstance } from './instances/resolved-instance';
export {
  deriveFacts,
  type Derivation,
  type DerivationFailure,
  type DerivationSources,
  type RelatedInstances,
} from './derived/derive-facts';
export { historyOfChange, type HistoryEntry, type HistorySource, noHistory, trimHistory } from './derived/history';
