export {
  createDecisionLog,
  type DecisionLog,
  type DecisionLogOptions,
  type DecisionLogWriter,
  type DecisionMessage,
  recordText,
} from './decisions/decision-log';
export { type SolvedInput, solvedInput } from './decisions/solved-input';
export { createRunTeller, type RunTeller } from './decisions/tell-runs';
export { createUsageCounter, tellAll, type UsageCounter, type UsageCounterOptions } from './decisions/usage-counter';
export { type ContextModels, createContextModels } from './context-models';
export {
  BRIEFLY_COMPILED_CELLS,
  createRuleLibrary,
  type LoadTable,
  type RuleLibrary,
  type RuleSources,
} from './rule-library';
export {
  inputHash,
  type OperationRun,
  type RequestFault,
  type SettleFault,
  settleOperations,
  type SettleSurroundings,
} from './settle-operations';
export { createStoredRules } from './stored-rules';
export {
  answerEvaluations,
  createEvaluationThreads,
  type EvaluationJob,
  type EvaluationThreads,
} from './threads/evaluation-threads';
export { type ThreadEvent } from './threads/thread-pool';
export {
  createValueDirectory,
  type RuleValues,
  type ValueDirectory,
  type ValueDirectoryOptions,
  type ValueStore,
} from './value-directory';
