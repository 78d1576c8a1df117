export { type CompiledRuleAsset } from './assets';
export { checkFlow, compileFlow } from './compile-flow';
export { evaluateFlow } from './evaluate-flow';
export { type FlowPlan } from './plan';
export { type FlowOutcome } from './run/outcome';
