import { everyUnit, isAsciiLetter, isDigit } from './characters';

const MAX_DOMAIN = 253;
const MAX_LABEL = 63;
const DASH = 45;

/** Whether a text is a domain name of at least two labels, the last of which does not look like a number. ASCII; `xn--` covers the rest. */
export const isDomainName = (text: string): boolean => {
  if (text.length > MAX_DOMAIN) return false;
  const labels = text.split('.');
  const last = labels.at(-1) ?? '';
  return labels.length >= 2 && labels.every(isLabel) && last.length >= 2 && !everyUnit(last, isDigit);
};

/** Letters, digits and inner hyphens. */
const isLabel = (text: string): boolean =>
  text.length > 0 &&
  text.length <= MAX_LABEL &&
  !text.startsWith('-') &&
  !text.endsWith('-') &&
  everyUnit(text, (unit) => isAsciiLetter(unit) || isDigit(unit) || unit === DASH);
