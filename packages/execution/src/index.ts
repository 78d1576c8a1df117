export { type Compilation } from './compilation';
export { compileStoredFlow } from './flows/compile-stored-flow';
export { type FlowLibrary } from './flows/flow-library';
export { createFlowRunner, type FlowRunner, type OpenedFlow } from './flows/flow-runner';
export { type FlowEvaluation } from './flows/run-plan';
export { createStoredFlows } from './flows/stored-flows';
export { createTurns } from './flows/turns';
export {
  createDecisionLog,
  type DecidedBy,
  type DecisionLogWriter,
  putOnRecord,
  withoutDecisionLog,
} from './decisions/decision-log';
export { type LoggingPolicy, type MaskValue, NOTHING_SHOWN, stricterPolicy } from './decisions/logging-policy';
export { type SolvedInput, solvedInput } from './decisions/solved-input';
export { createUsageCounter, combineWriters } from './decisions/usage-counter';
export { type ContextModels, createContextModels } from './operations/context-models';
export { type RequestFault, type SettleFault } from './operations/evaluate-asset';
export { createRunLog } from './operations/run-log';
export { ancestorsOf, inputHash, settleOperations } from './operations/settle-operations';
export { BRIEFLY_COMPILED_CELLS, createStoredRules, type RuleLibrary } from './rule-library';
export { answerEvaluations } from './threads/answer-evaluations';
export { createEvaluationThreads, type EvaluationThreads } from './threads/evaluation-threads';
export { type EvaluationJob } from './threads/thread-messages';
