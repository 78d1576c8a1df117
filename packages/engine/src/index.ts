export { checkRule } from './check/check-rule';
export { compileRule } from './compile/compile-rule';
export { type CompiledRule } from './compile/compiled-rule';
export { evaluateMany, evaluateRule } from './evaluate/evaluate-rule';
export { findOperator, operatorCatalogue, operatorNames } from './operators/operator-catalogue';
export { type ArgumentType, type OperatorArgument, type OperatorEntry } from './operators/operator-entry';
export {
  type EvaluateOptions,
  type ExplainMode,
  type LosingRow,
  type RuleExplanation,
  type RuleFailure,
  type RuleOutcome,
} from './rule-outcome';
export { MAX_PROBLEMS, type RuleProblem, type RuleProblemCode } from './rule-problem';
