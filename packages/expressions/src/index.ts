export { readingOfArgument } from './check/argument-reading';
export { checkFormula, type CheckScope } from './check/check-formula';
export { nearName } from './check/near-name';
export { formulaReferences, type FormulaReferences, selectorIn } from './check/formula-references';
export { compileFormula } from './compile/compile-formula';
export { Fold } from './folds/fold';
export { type FoldableCall, foldableCall } from './folds/foldable-call';
export { type Formula, formulaLimits } from './formula';
export { FormulaFault, type FormulaProblem, type FormulaProblemCode, formulaProblemCodes } from './formula-problem';
export { formulaFunctions } from './functions/catalogue';
export { exampleFields, exampleNow, type FunctionEntry, type FunctionGroup } from './functions/definition';
export { defaultFormulaBudget, FormulaAllowance, type FormulaAllowanceSize, type FormulaBudget } from './run/budget';
export {
  type CompiledFormula,
  type FormulaEnvironment,
  type FormulaScope,
  type FunctionValue,
  type HostFunction,
} from './run/run';
export { type FormulaOutcome, runFormula } from './run/run-formula';
export { childrenOf, type FormulaNode } from './syntax/nodes';
export { type FormulaParsing, parseFormula } from './syntax/parser';
export { printFormula } from './syntax/printer';
export { parsePattern, type Pattern } from './text/pattern';
export { measureValue } from './values/measure';
