export { createFlowRunner, type FlowRunner } from './flows/flow-runner';
export { createDecisionLog, type DecisionLogWriter, type SolvedInput, solvedInput } from './decisions/decision-log';
export { createRunLog } from './decisions/run-log';
export { createUsageCounter, combineWriters } from './decisions/usage-counter';
export {
  type ContextModels,
  createContextModels,
  inputHash,
  type RequestFault,
  type SettleFault,
  settleOperations,
} from './settle-operations';
export { BRIEFLY_COMPILED_CELLS, createStoredRules, type RuleLibrary } from './rule-library';
export {
  answerEvaluations,
  createEvaluationThreads,
  type EvaluationJob,
  type EvaluationThreads,
} from './threads/evaluation-threads';
export { type ThreadEvent } from './threads/thread-pool';
