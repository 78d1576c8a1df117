import { type ContextDefinition } from '../definitions/context-definition';
import { readSchema } from '../definitions/read-schema';
import { quoted } from '../facts/fact-name';
import { type BoundAsset, factsRead, factsWritten, firstPart, relationsRead } from './bound-asset';

interface Names {
  has(name: string): boolean;
}

/** The ground for a decision about a binding: a compiled context is one, and {@link bindingGroundOf} makes one of less. */
interface BindingGround {
  readonly definition: Pick<ContextDefinition, 'onSchemaMismatch'>;
  readonly identity: { readonly key: string };
  readonly facts: Names;
  readonly derived: Names;
  readonly relations: Names;
}

/** The ground of a stored context, from its own definition and the names of its relationships alone. */
export const bindingGroundOf = (
  definition: Pick<ContextDefinition, 'schema' | 'identityFact' | 'onSchemaMismatch'>,
  relations: readonly string[],
): BindingGround => {
  const { facts, derived } = readSchema(definition.schema, definition.identityFact);
  return { definition, identity: { key: definition.identityFact }, facts, derived, relations: new Set(relations) };
};

/** Why an asset cannot be bound. */
interface BindingFault {
  /** The key of the output that is at fault; undefined where all inputs are. */
  readonly output: string | undefined;
  /** A sentence. */
  readonly message: string;
}

/** Why an asset cannot be bound to a context (C57); none where it can. */
export const faultsOfBinding = (ground: BindingGround, asset: BoundAsset): readonly BindingFault[] => {
  const faults = factsWritten(asset).flatMap((fact): BindingFault[] => {
    const message = faultOfOutput(ground, fact);
    const output = asset.outputs.find((key) => firstPart(key) === fact);
    return message === undefined ? [] : [{ output, message }];
  });
  if (readsSomething(ground, asset)) return faults;
  return [...faults, { output: undefined, message: 'None of its inputs is a fact or a relationship of the context.' }];
};

const faultOfOutput = ({ definition, identity, facts, derived }: BindingGround, fact: string): string | undefined => {
  if (fact === identity.key)
    return `It answers ${quoted(fact)}, the identity fact, which bound rules and flows cannot write.`;
  if (derived.has(fact)) return `It answers ${quoted(fact)}, which is derived.`;
  if (!facts.has(fact) && definition.onSchemaMismatch === 'reject')
    return `It answers ${quoted(fact)}, which is no fact of the context; its on_schema_mismatch is reject.`;
  return undefined;
};

const readsSomething = ({ definition, facts, derived, relations }: BindingGround, asset: BoundAsset): boolean => {
  const isFact = (fact: string): boolean =>
    facts.has(fact) || derived.has(fact) || definition.onSchemaMismatch === 'store';
  return factsRead(asset).some(isFact) || relationsRead(asset).some((name) => relations.has(name));
};
