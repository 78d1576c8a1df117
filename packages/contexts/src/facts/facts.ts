/**
 * Values by the name of their fact; JSON values. Made by spreading and `Object.fromEntries`, read through {@link valueOf}: names such as
 * `constructor` are facts like others.
 */
export type Facts = Readonly<Record<string, unknown>>;

export const NO_FACTS: Facts = Object.freeze({});

/** The value of a fact; null where it was never given and where null was given. */
export const valueOf = (facts: Facts, fact: string): unknown =>
  Object.hasOwn(facts, fact) ? (facts[fact] ?? null) : null;

/** Whether the fact has a value: null is none. */
export const hasValue = (facts: Facts, fact: string): boolean => valueOf(facts, fact) !== null;
