import { type ContextModel } from '../definitions/context-model';
import { type Facts, hasValue } from '../facts/facts';
import { type BoundAsset, firstPart, relationOfInput } from './bound-asset';

/**
 * Facts without a value that an asset cannot run without (C53): those that are required, output_only or derived, where the asset has no default
 * of its own. None: it is ready, whether or not the instance is complete.
 */
export const factsAwaited = (model: ContextModel, asset: BoundAsset, state: Facts): readonly string[] => {
  const awaited = asset.inputs
    .filter((input) => !input.hasDefault && relationOfInput(input) === undefined)
    .map(({ key }) => firstPart(key))
    .filter((fact) => isNeeded(model, fact) && !hasValue(state, fact));
  return [...new Set(awaited)];
};

const isNeeded = ({ facts, derived }: ContextModel, fact: string): boolean => {
  const declared = facts.get(fact);
  return derived.has(fact) || (declared !== undefined && (declared.required || declared.outputOnly));
};

export const isReady = (model: ContextModel, asset: BoundAsset, state: Facts): boolean =>
  factsAwaited(model, asset, state).length === 0;
