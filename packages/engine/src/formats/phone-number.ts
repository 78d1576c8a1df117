import { isDigit } from './characters';

const MIN_DIGITS = 7;
/** Digits of an international number at most, with its country code. */
const MAX_DIGITS = 15;
const MAX_LENGTH = 40;
const SEPARATORS = new Set([' ', '-', '.', '/']);

/**
 * Whether a text is written as a telephone number: 7 to 15 digits, in groups set apart by single spaces, hyphens, dots or slashes, one
 * group perhaps in parentheses, a `+` perhaps before all. Whether anybody has the number is not known.
 */
export const isPhoneNumber = (text: string): boolean => {
  if (text.length > MAX_LENGTH) return false;
  let digits = 0;
  let previous = '';
  let isOpen = false;
  let groups = 0;
  for (const character of text.startsWith('+') ? text.slice(1) : text) {
    if (isDigit(character.charCodeAt(0))) digits += 1;
    else if (character === '(' && groups === 0 && !isOpen) {
      isOpen = true;
      groups += 1;
    } else if (character === ')' && isOpen && previous !== '(') isOpen = false;
    else if (!SEPARATORS.has(character) || isOpen || previous === '' || SEPARATORS.has(previous)) return false;
    previous = character;
  }
  return !isOpen && digits >= MIN_DIGITS && digits <= MAX_DIGITS && !SEPARATORS.has(previous);
};
