export { createDecisionLog, type DecisionLogWriter } from './decisions/decision-log';
export { type SolvedInput, solvedInput } from './decisions/solved-input';
export { createRunTeller } from './decisions/tell-runs';
export { createUsageCounter, tellAll } from './decisions/usage-counter';
export { type ContextModels, createContextModels } from './context-models';
export { BRIEFLY_COMPILED_CELLS, type RuleLibrary } from './rule-library';
export { inputHash, type RequestFault, type SettleFault, settleOperations } from './settle-operations';
export { createStoredRules } from './stored-rules';
export {
  answerEvaluations,
  createEvaluationThreads,
  type EvaluationJob,
  type EvaluationThreads,
} from './threads/evaluation-threads';
export { type ThreadEvent } from './threads/thread-pool';
