import { evaluateRule } from '@decision/engine';
import { FlowFault, type EvaluateAsset } from './outcome';

/** Evaluates a rule that is compiled in this thread. */
export const evaluateHere: EvaluateAsset = ({ rule, slug }, input, now) => {
  if (rule !== undefined) return evaluateRule(rule, input, { now });
  throw new FlowFault(`The rule "${slug}" is not compiled in this thread.`, {}, 'infrastructure_error');
};
