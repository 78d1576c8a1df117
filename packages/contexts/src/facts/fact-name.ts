import { contextLimits } from '@decision/contracts';

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether text holds half of a character that takes two UTF-16 units. */
export const hasLoneSurrogate = (text: string): boolean => LONE_SURROGATE.test(text);

/** Whether text holds a control character or half of a character. */
export const isUnprintable = (text: string): boolean => CONTROL.test(text) || hasLoneSurrogate(text);

/** Why a text cannot be the name of a fact, as the end of a sentence; undefined where it can (C2). */
export const faultOfFactName = (name: string): string | undefined => {
  if (name.length === 0) return 'is empty';
  if (name.length > contextLimits.factNameLength) return `is longer than ${contextLimits.factNameLength} characters`;
  if (isUnprintable(name)) return 'holds a control character or half of a character';
  if (name.includes('.')) return 'holds a dot, which formulas and rules read as a member: use an object instead';
  if (name.startsWith('$')) return 'begins with $, which names relationships and values';
  return name === '__proto__' ? 'is reserved' : undefined;
};

const SHOWN = 60;

/** A name in quotes for a message, shortened. */
export const quoted = (name: string): string =>
  JSON.stringify(name.length > SHOWN ? `${name.slice(0, SHOWN)}...` : name);
