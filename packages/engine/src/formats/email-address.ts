import { asciiLowerCase, everyUnit, isAsciiLetter, isDigit } from './characters';
import { isDomainName } from './domain-name';
import { personalMailDomains } from './personal-mail-domains';

const MAX_ADDRESS = 254;
const MAX_LOCAL = 64;
const SYMBOLS = new Set([..."!#$%&'*+/=?^_`{|}~-"].map((symbol) => symbol.charCodeAt(0)));

const isAtomUnit = (unit: number): boolean => isAsciiLetter(unit) || isDigit(unit) || SYMBOLS.has(unit);

/** The domain of a mail address in lower case; undefined where the text is none. Quoted local parts and address literals are not accepted. */
const domainOf = (text: string): string | undefined => {
  const at = text.length <= MAX_ADDRESS ? text.lastIndexOf('@') : -1;
  if (at < 1 || at > MAX_LOCAL) return undefined;
  const isLocal = text
    .slice(0, at)
    .split('.')
    .every((atom) => atom.length > 0 && everyUnit(atom, isAtomUnit));
  const domain = asciiLowerCase(text.slice(at + 1));
  return isLocal && isDomainName(domain) ? domain : undefined;
};

export const isEmailAddress = (text: string): boolean => domainOf(text) !== undefined;

/** A mail address at a provider where anybody gets one. */
export const isPersonalEmailAddress = (text: string): boolean => {
  const domain = domainOf(text);
  return domain !== undefined && personalMailDomains.has(domain);
};

/** A mail address at any other domain. */
export const isWorkEmailAddress = (text: string): boolean => {
  const domain = domainOf(text);
  return domain !== undefined && !personalMailDomains.has(domain);
};
