import { type ContextModel } from '../definitions/context-model';
import { quoted } from '../facts/fact-name';
import { type BoundAsset, factsRead, factsWritten, relationsRead } from './bound-asset';

/** Why an asset cannot be bound to a context (C57), one sentence each; none where it can. */
export const faultsOfBinding = (model: ContextModel, asset: BoundAsset): readonly string[] => {
  const faults = factsWritten(asset).flatMap((fact) => faultOfOutput(model, fact) ?? []);
  return readsSomething(model, asset)
    ? faults
    : [...faults, 'None of its inputs is a fact or a relationship of the context.'];
};

const faultOfOutput = ({ definition, identity, facts, derived }: ContextModel, fact: string): string | undefined => {
  if (fact === identity.key)
    return `It answers ${quoted(fact)}, the identity fact, which bound rules and flows cannot write.`;
  if (derived.has(fact)) return `It answers ${quoted(fact)}, which is derived.`;
  if (!facts.has(fact) && definition.onSchemaMismatch === 'reject')
    return `It answers ${quoted(fact)}, which is no fact of the context; its on_schema_mismatch is reject.`;
  return undefined;
};

const readsSomething = ({ definition, facts, derived, relations }: ContextModel, asset: BoundAsset): boolean => {
  const isFact = (fact: string): boolean =>
    facts.has(fact) || derived.has(fact) || definition.onSchemaMismatch === 'store';
  return factsRead(asset).some(isFact) || relationsRead(asset).some((name) => relations.has(name));
};
