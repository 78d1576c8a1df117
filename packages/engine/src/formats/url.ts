import { asciiLowerCase, everyUnit, isDigit } from './characters';
import { isDomainName } from './domain-name';
import { isIpv4Address, isIpv6Address } from './ip-address';

const SCHEMES = ['http://', 'https://', 'ftp://'];
const LONGEST_SCHEME = 'https://'.length;
/** Longer texts are no addresses that anything accepts. */
const MAX_LENGTH = 8_192;
const MAX_PORT = 65_535;

/** White space, control characters, and characters that must be escaped in every part. */
const isForbidden = (unit: number): boolean =>
  unit <= 32 || unit === 127 || unit === 34 || unit === 60 || unit === 62 || unit === 92 || unit === 94 || unit === 96;

/** Whether a text is an absolute http, https or ftp address: of a domain name, an IP address or `localhost`. */
export const isUrl = (text: string): boolean => {
  if (text.length > MAX_LENGTH || !everyUnit(text, (unit) => !isForbidden(unit))) return false;
  const start = asciiLowerCase(text.slice(0, LONGEST_SCHEME));
  const scheme = SCHEMES.find((known) => start.startsWith(known));
  if (scheme === undefined) return false;
  const rest = text.slice(scheme.length);
  const end = rest.search(/[/?#]/);
  const authority = end < 0 ? rest : rest.slice(0, end);
  return isHostAndPort(authority.slice(authority.lastIndexOf('@') + 1));
};

const isHostAndPort = (text: string): boolean => {
  if (text.startsWith('[')) {
    const close = text.indexOf(']');
    return close > 0 && isIpv6Address(text.slice(1, close)) && isPort(text.slice(close + 1));
  }
  const colon = text.indexOf(':');
  const host = colon < 0 ? text : text.slice(0, colon);
  return isHost(asciiLowerCase(host)) && isPort(colon < 0 ? '' : text.slice(colon));
};

const isHost = (host: string): boolean => host === 'localhost' || isIpv4Address(host) || isDomainName(host);

/** Nothing, or a colon and a port. */
const isPort = (text: string): boolean => {
  const port = text.slice(1);
  return (
    text === '' || (text.startsWith(':') && port.length > 0 && everyUnit(port, isDigit) && Number(port) <= MAX_PORT)
  );
};
