import { contextLimits } from '@decision/contracts';

/**
 * Values by the name of their fact; JSON values. Made by spreading and `Object.fromEntries`, read through {@link valueOf}: names such as
 * `constructor` are ordinary facts.
 */
export type Facts = Readonly<Record<string, unknown>>;

/** The value of a fact; null if it was never given or null was given. */
export const valueOf = (facts: Facts, fact: string): unknown =>
  Object.hasOwn(facts, fact) ? (facts[fact] ?? null) : null;

/** Whether the fact has a value other than null. */
export const hasValue = (facts: Facts, fact: string): boolean => valueOf(facts, fact) !== null;

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether a text contains a lone surrogate (half of a character that takes two UTF-16 units). */
export const hasLoneSurrogate = (text: string): boolean => LONE_SURROGATE.test(text);

/** Whether a text contains a control character or a lone surrogate. */
export const isUnprintable = (text: string): boolean => CONTROL.test(text) || hasLoneSurrogate(text);

/** Why a text cannot be the name of a fact, as the end of a sentence; undefined if it can (C2). */
export const faultOfFactName = (name: string): string | undefined => {
  if (name.length === 0) return 'is empty';
  if (name.length > contextLimits.factNameLength) return `is longer than ${contextLimits.factNameLength} characters`;
  if (isUnprintable(name)) return 'holds a control character or half of a character';
  if (name.includes('.')) return 'holds a dot, which formulas and rules read as a member: use an object instead';
  if (name.startsWith('$')) return 'begins with $, which names relationships and values';
  return name === '__proto__' ? 'is reserved' : undefined;
};

const SHOWN = 60;

/** A quoted name for a message, shortened. */
export const quoted = (name: string): string =>
  JSON.stringify(name.length > SHOWN ? `${name.slice(0, SHOWN)}...` : name);

/** Merges by fact (C30): a given value replaces the former one whole, and other facts stay. Neither argument is changed. */
export const mergeFacts = (facts: Facts, given: Facts): Facts => ({ ...facts, ...given });

/**
 * JSON text with sorted object keys: equal values have equal texts. The value nests at most `contextLimits.valueDepth` levels, like all
 * merged values.
 */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const facts = value as Facts; // an object that is not a list
  let text = '';
  for (const key of Object.keys(facts).sort()) {
    const member = facts[key];
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
};

/** Whether two JSON values are the same; the order of keys does not matter. */
export const sameValue = (a: unknown, b: unknown): boolean => {
  if (Object.is(a, b)) return true;
  if (typeof a === 'number' && typeof b === 'number') return a === b;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  return canonicalJson(a) === canonicalJson(b);
};
