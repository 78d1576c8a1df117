import { everyUnit, isDigit } from './characters';

const NOT_LETTERS = /[^\p{L}\p{M}]/u;
const NOT_LETTERS_OR_DIGITS = /[^\p{L}\p{M}0-9]/u;
const NUMERIC = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;

/** Letters of any script and their accents; at least one. */
export const isOnlyLetters = (text: string): boolean => text !== '' && !NOT_LETTERS.test(text);

/** Letters of any script and the digits 0 to 9; at least one. */
export const isOnlyLettersAndDigits = (text: string): boolean => text !== '' && !NOT_LETTERS_OR_DIGITS.test(text);

/** The digits 0 to 9; at least one. */
export const isOnlyDigits = (text: string): boolean => text !== '' && everyUnit(text, isDigit);

/** A decimal number: perhaps a sign, digits, a point, an exponent; nothing around it. */
export const isNumeric = (text: string): boolean => NUMERIC.test(text);

/** Has a letter with case, and none in lower case. */
export const isUppercase = (text: string): boolean => text === text.toUpperCase() && text !== text.toLowerCase();

/** Has a letter with case, and none in upper case. */
export const isLowercase = (text: string): boolean => text === text.toLowerCase() && text !== text.toUpperCase();
