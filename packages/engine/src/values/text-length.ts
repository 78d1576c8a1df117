const SURROGATE = /[\ud800-\udfff]/;

/** Characters of a text: Unicode code points, a lone surrogate counting as one. Linear. */
export const lengthOfText = (text: string): number => {
  if (!SURROGATE.test(text)) return text.length;
  let count = text.length;
  for (let unit = 1; unit < text.length; unit += 1) {
    if (isLow(text.charCodeAt(unit)) && isHigh(text.charCodeAt(unit - 1))) count -= 1;
  }
  return count;
};

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
