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
export const withDefaults = ({ defaultedFacts }: ContextModel, facts: Facts): Facts => {
  const defaults = defaultedFacts.filter(({ key }) => !Object.hasOwn(facts, key));
  return defaults.length === 0
    ? facts
    : { ...Object.fromEntries(defaults.map(({ key, defaultValue }) => [key, defaultValue])), ...facts };
};

/** All facts of an instance: the part of {@link ResolvedInstance} that assets read. */
export type DerivedState = Pick<ResolvedInstance, 'state' | 'derived' | 'failures'>;

/** Computes all facts of an instance from its stored ones. */
export const deriveState = (model: ContextModel, stored: Facts, sources: DerivationSources): DerivedState => {
  const base = withDefaults(model, stored);
  const { derived, failures } = deriveFacts(model, base, sources);
  return { state: model.derived.size === 0 ? base : { ...base, ...derived }, derived, failures };
};

/** Computes the readers' view of an instance from its stored state. */
export const resolveInstance = (model: ContextModel, stored: Facts, sources: DerivationSources): ResolvedInstance =>
  describeState(model, deriveState(model, stored, sources));

/** The readers' view of an instance whose facts were computed. */
export const describeState = (model: ContextModel, { state, derived, failures }: DerivedState): ResolvedInstance => {
  const need = model.requiredFacts.filter((fact) => !hasValue(state, fact));
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
  const held: string[] = [];
  for (const fact of facts.keys()) if (hasValue(state, fact)) held.push(fact);
  for (const fact of derivedNames) if (hasValue(state, fact)) held.push(fact);
  const others = Object.keys(state).filter((fact) => !facts.has(fact) && !derived.has(fact) && hasValue(state, fact));
  return others.length === 0 ? held : [...held, ...others.sort()];
};
