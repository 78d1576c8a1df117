export { checkFormula, type CheckScope } from './check/check-formula';
export { formulaReferences, readingOfArgument, selectorIn } from './check/formula-references';
export { nearName } from './check/near-name';
export { compileFormula } from './compile/compile-formula';
export { Fold, type FoldableCall, foldableCall } from './folds/foldable-call';
export { FormulaFault, type FormulaProblem, type FormulaProblemCode } from './formula-problem';
export { formulaFunctions } from './functions/catalogue';
export { exampleFields, exampleNow, type FunctionEntry } from './functions/definition';
export {
  type CompiledFormula,
  defaultFormulaBudget,
  FormulaAllowance,
  type FormulaBudget,
  type FormulaEnvironment,
  type FormulaOutcome,
  type FunctionValue,
  type HostFunction,
  runFormula,
} from './run/run';
export { childrenOf, type Formula, formulaLimits, type FormulaNode } from './syntax/nodes';
export { parseFormula } from './syntax/parser';
export { parsePattern, type Pattern } from './text/pattern';
export { measureValue } from './values/operands';
