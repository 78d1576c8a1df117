export { nearName } from '@decision/expressions';
export { checkRule, type CompileOptions, compileRule } from './compile/compile-rule';
export { type CompiledRule } from './compile/compiled-rule';
export { evaluateBriefly, evaluateMany, evaluateRule } from './evaluate/evaluate-rule';
export { type ArgumentType } from './operators/argument';
export { operatorCatalogue, operatorNames } from './operators/operator-catalogue';
export { EXAMPLE_NOW, type OperatorArgument, type OperatorEntry } from './operators/operator-entry';
export { accumulatorNames } from './read/read-groups';
export { collectReferences, functionsCalledIn, type TableReferences } from './references/collect-references';
export { type HiddenValues, problemsOfMovedReferences } from './references/moved-references';
export { checkFunctionText } from './references/function-values';
export { bindValueReferences, type Binding } from './references/bind-value-references';
export { type FunctionText, type StoredValue, type ValueLookUp, type ValueSource } from './references/value-source';
export {
  type Audience,
  type EvaluateOptions,
  type ExplainMode,
  type LosingRow,
  type RuleExplanation,
  type RuleFailure,
  type RuleOutcome,
} from './rule-outcome';
export { type FormulaPlace, MAX_PROBLEMS, type RuleProblem, type RuleProblemCode } from './rule-problem';
