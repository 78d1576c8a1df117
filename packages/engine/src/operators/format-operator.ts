import { negate, test } from './condition';
import { type Operator, operatorsOf } from './operator-entry';

const operator = operatorsOf<string>('string');

/** An operator without arguments: its name, meaning, a text that matches, one that does not, and its test. */
export const format = (
  op: string,
  meaning: string,
  [matches, misses]: readonly [string, string],
  passes: (text: string) => boolean,
  readingCost?: number,
): Operator =>
  operator({ op, args: [], meaning, example: [[], matches, misses], readingCost, condition: () => test(passes) });

/** The opposite operator. */
export const opposite = (
  op: string,
  meaning: string,
  [matches, misses]: readonly [string, string],
  passes: (text: string) => boolean,
  readingCost?: number,
): Operator =>
  operator({
    op,
    args: [],
    meaning,
    example: [[], matches, misses],
    readingCost,
    condition: () => negate(test(passes)),
  });

/** Tests of single UTF-16 units, for readers that visit each once. */
export const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57;
export const isAsciiLetter = (unit: number): boolean => (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122);
export const isHexDigit = (unit: number): boolean =>
  isDigit(unit) || (unit >= 65 && unit <= 70) || (unit >= 97 && unit <= 102);

/** Replaces a to z by A to Z; everything else is kept, so that no other letter becomes one of these: `ß`, `ſ`, `ı` and the Kelvin sign do not. */
export const asciiUpperCase = (text: string): string => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());

/** Replaces A to Z by a to z; everything else is kept. */
export const asciiLowerCase = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Whether every unit of a text passes; true for an empty text. */
export const everyUnit = (text: string, passes: (unit: number) => boolean): boolean => {
  for (let index = 0; index < text.length; index += 1) if (!passes(text.charCodeAt(index))) return false;
  return true;
};
