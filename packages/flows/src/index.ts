export { type CompiledRuleAsset, type FlowAsset, type FlowAssets } from './assets';
export { checkFlow, compileFlow } from './compile-flow';
export { evaluateFlow } from './evaluate-flow';
export { nodeKinds } from './node-kinds';
export { type FlowPlan, type OutsideNode } from './plan';
export { type EvaluateAsset, type FlowFailure, FlowFault, type FlowOutcome } from './run/outcome';
export {
  type CallFor,
  type CallOutside,
  type FlowNotification,
  type FlowRun,
  type KeepOutputs,
  type OutsideCall,
  type RunningOperation,
} from './run/outside';
export { Secret } from './run/secret';
export { fitsType } from './run/values';
export { nameOfAsset, usesOf } from './uses';
export { type FlowLimits } from './read-flow';
