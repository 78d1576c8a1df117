export {
  BatchCascade,
  BatchProgress,
  type BatchWork,
  carryOutChunk,
  CHUNKS_AT_ONCE,
  type Commits,
  newCommits,
} from './batches/carry-out-chunk';
export { chunksByKey } from './batches/chunks-by-key';
export { Summaries } from './cascades/cascade';
export { cascadePending } from './cascades/cascade-changes';
export { findReadingRelationships } from './cascades/find-readers';
export { toAsset } from './definitions/bound-assets';
export {
  type ContextDirectory,
  contextNotFound,
  createContextDirectory,
  type DefinitionsContext,
  type OpenContext,
  wholeWorkspace,
} from './definitions/context-directory';
export { withContext } from './definitions/recall-context';
export { toDefinition, toRelationship, toWorld } from './definitions/world';
export { createEntityStore } from './entities/entity-store';
export { openEntities } from './entities/open-entities';
export { deleteInstance } from './instances/delete-instance';
export {
  endRemarks,
  ignoredRemarks,
  type NamedInstance,
  rejectionRemarks,
  withCommits,
} from './instances/instance-answers';
export { getHistory, getInstance, getPending, listInstances } from './instances/read-instances';
export { cascadeInstance, solveFlowOfInstance, solveRuleOfInstance, submitFacts } from './instances/submit';
export { createFailureLogger, type InstancesContext, operate, type OperateContext } from './operations/operate';
export { createOperationsObserver } from './operations/operation-events';
export { createLocalSettler, createOwnSettler, createSettler } from './operations/settler';
export { lookUpMembers } from './operations/surroundings';
export { groupBy, type InstanceOutcome, type RequestOrigin } from './operations/work';
