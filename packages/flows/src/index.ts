export { type CompiledRuleAsset } from './assets';
export { checkFlow, compileFlow } from './compile-flow';
export { evaluateFlow } from './evaluate-flow';
export { nodeKinds } from './node-kinds';
export { type FlowPlan, type OutsideNode } from './plan';
export { type EvaluateAsset, type FlowFailure, FlowFault, type FlowOutcome } from './run/outcome';
export { type CallFor, type CallOutside, type FlowRun, type OutsideCall } from './run/outside';
export { Secret } from './run/secret';
export { fitsType } from './run/values';
