import { isDigit } from './characters';

const MIN_DIGITS = 12;
const MAX_DIGITS = 19;
const MAX_LENGTH = 40;

/** Whether a text is a card number: 12 to 19 digits that do not begin with 0 and pass the Luhn check, single spaces or hyphens between them. */
export const isCreditCardNumber = (text: string): boolean => {
  if (text.length > MAX_LENGTH || text.startsWith('0')) return false;
  const digits: number[] = [];
  for (let index = 0; index < text.length; index += 1) {
    if (isDigit(text.charCodeAt(index))) digits.push(text.charCodeAt(index) - 48);
    else if (!isSeparator(text, index)) return false;
  }
  return digits.length >= MIN_DIGITS && digits.length <= MAX_DIGITS && luhnSum(digits) % 10 === 0;
};

const isSeparator = (text: string, index: number): boolean =>
  (text[index] === ' ' || text[index] === '-') &&
  isDigit(text.charCodeAt(index - 1)) &&
  isDigit(text.charCodeAt(index + 1));

/** From the right, every second digit counts double, and a double of two digits counts as their sum. */
const luhnSum = (digits: readonly number[]): number =>
  digits.reduce((sum, digit, index) => {
    const isDoubled = (digits.length - index) % 2 === 0;
    const counted = isDoubled ? digit * 2 : digit;
    return sum + (counted > 9 ? counted - 9 : counted);
  }, 0);
