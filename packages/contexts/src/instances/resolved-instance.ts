import { type InstanceStatus } from '@decision/contracts';
import { type ContextModel } from '../definitions/context-model';
import { deriveFacts, type DerivationFailure, type DerivationSources } from '../derived/derive-facts';
import { type Facts, hasValue } from '../facts/facts';

/** An instance as its readers see it. */
export interface ResolvedInstance {
  /** All facts: defaults, stored facts, derived facts. */
  readonly state: Facts;
  /** Derived facts alone. */
  readonly derived: Facts;
  readonly status: InstanceStatus;
  /** Facts that have a value (C51). */
  readonly have: readonly string[];
  /** Required facts without a value (C50). */
  readonly need: readonly string[];
  readonly failures: readonly DerivationFailure[];
}

/** Facts, with defaults for those that were never given (C34). */
export const withDefaults = ({ facts: declared }: ContextModel, facts: Facts): Facts => {
  const defaults = [...declared.values()].filter(
    ({ key, defaultValue }) => defaultValue !== null && !Object.hasOwn(facts, key),
  );
  return defaults.length === 0
    ? facts
    : { ...Object.fromEntries(defaults.map(({ key, defaultValue }) => [key, defaultValue])), ...facts };
};

/** Computes all facts of an instance from its stored ones: the part of {@link resolveInstance} that assets read. */
export const deriveState = (
  model: ContextModel,
  stored: Facts,
  sources: DerivationSources,
): Pick<ResolvedInstance, 'state' | 'derived' | 'failures'> => {
  const base = withDefaults(model, stored);
  const { derived, failures } = deriveFacts(model, base, sources);
  return { state: { ...base, ...derived }, derived, failures };
};

/** Computes the readers' view of an instance from its stored state. */
export const resolveInstance = (model: ContextModel, stored: Facts, sources: DerivationSources): ResolvedInstance => {
  const { state, derived, failures } = deriveState(model, stored, sources);
  const need = [...model.facts.values()]
    .filter(({ key, required }) => required && !hasValue(state, key))
    .map(({ key }) => key);
  return {
    state,
    derived,
    status: need.length === 0 ? 'complete' : 'pending',
    have: factsHeld(model, state),
    need,
    failures,
  };
};

const factsHeld = ({ facts, derived, derivedNames }: ContextModel, state: Facts): string[] => {
  const others = Object.keys(state).filter((fact) => !facts.has(fact) && !derived.has(fact));
  return [...facts.keys(), ...derivedNames, ...others.sort()].filter((fact) => hasValue(state, fact));
};
