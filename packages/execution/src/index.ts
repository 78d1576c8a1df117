export { type ContextModels, createContextModels } from './context-models';
export { createRuleLibrary, type LoadTable, type RuleLibrary, type RuleSources } from './rule-library';
export { inputHash, type OperationRun, settleOperations, type SettleSurroundings } from './settle-operations';
export { createStoredRules } from './stored-rules';
export {
  createValueDirectory,
  type RuleValues,
  type ValueDirectory,
  type ValueDirectoryOptions,
  type ValueStore,
} from './value-directory';
