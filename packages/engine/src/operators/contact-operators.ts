import { asciiLowerCase, everyUnit, format, isAsciiLetter, isDigit, isHexDigit, opposite } from './format-operator';
import { type Operator } from './operator-entry';

const MAX_ADDRESS = 254;
const MAX_LOCAL = 64;
const SYMBOLS = new Set([..."!#$%&'*+/=?^_`{|}~-"].map((symbol) => symbol.charCodeAt(0)));

const isAtomUnit = (unit: number): boolean => isAsciiLetter(unit) || isDigit(unit) || SYMBOLS.has(unit);

/**
 * The domain of a mail address in lower case; undefined if the text is not a mail address. Quoted local parts and address literals are not
 * accepted.
 */
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

const isEmailAddress = (text: string): boolean => domainOf(text) !== undefined;

/** A mail address at a provider that is open to everybody. */
const isPersonalEmailAddress = (text: string): boolean => {
  const domain = domainOf(text);
  return domain !== undefined && personalMailDomains.has(domain);
};

/** A mail address at any other domain. */
const isWorkEmailAddress = (text: string): boolean => {
  const domain = domainOf(text);
  return domain !== undefined && !personalMailDomains.has(domain);
};

/**
 * Domains that offer mail addresses to everybody: the large providers and access providers. The list cannot be complete; a missing domain counts
 * as a work domain.
 */
const personalMailDomains: ReadonlySet<string> = new Set(
  `
  gmail.com googlemail.com
  outlook.com outlook.de outlook.fr outlook.es outlook.it hotmail.com hotmail.co.uk hotmail.de hotmail.fr hotmail.es hotmail.it
  live.com live.co.uk live.de live.fr live.nl msn.com passport.com
  yahoo.com yahoo.co.uk yahoo.co.in yahoo.co.jp yahoo.de yahoo.fr yahoo.es yahoo.it yahoo.ca yahoo.com.br yahoo.com.au yahoo.com.mx
  ymail.com rocketmail.com aol.com aol.de aim.com
  icloud.com me.com mac.com
  proton.me protonmail.com protonmail.ch pm.me tutanota.com tutanota.de tuta.io tuta.com hushmail.com
  gmx.com gmx.net gmx.de gmx.at gmx.ch gmx.fr web.de freenet.de t-online.de arcor.de mail.de posteo.de mailbox.org
  mail.com email.com usa.com fastmail.com fastmail.fm zoho.com zohomail.com inbox.com hey.com
  yandex.com yandex.ru ya.ru mail.ru bk.ru list.ru inbox.ru rambler.ru
  qq.com foxmail.com 163.com 126.com yeah.net sina.com sina.cn sohu.com aliyun.com naver.com daum.net hanmail.net nate.com
  rediffmail.com indiatimes.com
  orange.fr wanadoo.fr free.fr laposte.net sfr.fr neuf.fr
  libero.it virgilio.it tiscali.it alice.it tin.it
  telenet.be skynet.be ziggo.nl kpnmail.nl planet.nl xs4all.nl
  comcast.net verizon.net att.net sbcglobal.net bellsouth.net charter.net cox.net earthlink.net juno.com
  rogers.com shaw.ca sympatico.ca videotron.ca btinternet.com sky.com talktalk.net ntlworld.com virginmedia.com
  bigpond.com optusnet.com.au uol.com.br bol.com.br terra.com.br ig.com.br
  seznam.cz centrum.cz wp.pl o2.pl onet.pl interia.pl bluewin.ch hispeed.ch
  `
    .trim()
    .split(/\s+/),
);

const MAX_DOMAIN = 253;
const MAX_LABEL = 63;
const DASH = 45;

/** Whether a text is a domain name of at least two labels, the last of which does not look like a number. ASCII; `xn--` covers the rest. */
const isDomainName = (text: string): boolean => {
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

const SCHEMES = ['http://', 'https://', 'ftp://'];
const LONGEST_SCHEME = 'https://'.length;
/** Maximum length of an address: no software accepts longer ones. */
const LONGEST_URL = 8_192;
const MAX_PORT = 65_535;

/** White space, control characters, and characters that must be escaped in every part. */
const isForbidden = (unit: number): boolean =>
  unit <= 32 || unit === 127 || unit === 34 || unit === 60 || unit === 62 || unit === 92 || unit === 94 || unit === 96;

/** Whether a text is an absolute http, https or ftp address: of a domain name, an IP address or `localhost`. */
const isUrl = (text: string): boolean => {
  if (text.length > LONGEST_URL || !everyUnit(text, (unit) => !isForbidden(unit))) return false;
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

/** Maximum length of an IP address. */
const LONGEST_IP_ADDRESS = 45;

/** An IPv4 or IPv6 address. */
const isIpAddress = (text: string): boolean => isIpv4Address(text) || isIpv6Address(text);

/** Four numbers from 0 to 255 without leading zeros. */
const isIpv4Address = (text: string): boolean => {
  if (text.length > LONGEST_IP_ADDRESS) return false;
  const parts = text.split('.');
  return parts.length === 4 && parts.every(isByte);
};

const isByte = (part: string): boolean =>
  part.length > 0 &&
  part.length <= 3 &&
  everyUnit(part, isDigit) &&
  Number(part) <= 255 &&
  (part.length === 1 || !part.startsWith('0'));

const GROUPS = 8;

/** Eight groups of hexadecimal digits; `::` stands once for groups of zeros; the last two may be an IPv4 address. No zone. */
const isIpv6Address = (text: string): boolean => {
  if (text.length > LONGEST_IP_ADDRESS) return false;
  const [before = '', after, ...more] = text.split('::');
  if (more.length > 0) return false;
  const head = groupsIn(before, after === undefined);
  if (after === undefined) return head === GROUPS;
  const tail = groupsIn(after, true);
  return head !== undefined && tail !== undefined && head + tail < GROUPS;
};

/** Number of groups in a part; undefined if one of them is not a group. */
const groupsIn = (text: string, mayEndInIpv4: boolean): number | undefined => {
  if (text === '') return 0;
  const parts = text.split(':');
  const last = parts.at(-1) ?? '';
  const endsInIpv4 = mayEndInIpv4 && last.includes('.');
  if (endsInIpv4 && !isIpv4Address(last)) return undefined;
  const groups = endsInIpv4 ? parts.slice(0, -1) : parts;
  return groups.every(isGroup) ? groups.length + (endsInIpv4 ? 2 : 0) : undefined;
};

const isGroup = (part: string): boolean => part.length > 0 && part.length <= 4 && everyUnit(part, isHexDigit);

const MIN_DIGITS = 7;
/** Maximum number of digits in an international number, including its country code. */
const MAX_DIGITS = 15;
const LONGEST_PHONE_NUMBER = 40;
const SEPARATORS = new Set([' ', '-', '.', '/']);

/**
 * Whether a text has the format of a telephone number: 7 to 15 digits, in groups separated by single spaces, hyphens, dots or slashes,
 * optionally one group in parentheses and a leading `+`. Does not check whether the number exists.
 */
const isPhoneNumber = (text: string): boolean => {
  if (text.length > LONGEST_PHONE_NUMBER) return false;
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

const ZIP_CODE = /^[0-9]{5}(-[0-9]{4})?$/;
const LONGEST_ZIP_CODE = 10;

/** Whether a text is a ZIP code of the United States: five digits, optionally followed by a hyphen and four more. */
const isZipCode = (text: string): boolean => text.length <= LONGEST_ZIP_CODE && ZIP_CODE.test(text);

const URL = 'https://example.org/a?b=1';
const MAIL = 'ada@example.org';

/** Operators that check whether a text has the format of a number, code or address for contacting somebody or something. */
export const contactOperators: readonly Operator[] = [
  format(
    'is a valid phone number',
    'Has 7 to 15 digits, perhaps a leading +, single spaces, hyphens, dots or slashes between them, and one group in parentheses.',
    ['+44 20 7946 0958', '12-34'],
    isPhoneNumber,
  ),
  format(
    'is a valid zip code',
    'Is a ZIP code of the United States: five digits, perhaps a hyphen and four more.',
    ['94103-1234', '9410'],
    isZipCode,
  ),
  format(
    'is a work email address',
    'Is a mail address whose domain is none of the well-known providers for anybody.',
    ['ada@example.org', 'ada@gmail.com'],
    isWorkEmailAddress,
  ),
  format(
    'is a personal email address',
    'Is a mail address at one of the well-known providers for anybody.',
    ['ada@gmail.com', 'ada@example.org'],
    isPersonalEmailAddress,
  ),
  format('is a valid email address', 'Is written as a mail address.', [MAIL, 'ada@example'], isEmailAddress),
  opposite('is not a valid email address', 'Is not written as a mail address.', ['ada', MAIL], isEmailAddress),
  format(
    'is a valid URL',
    'Is an absolute http, https or ftp address of a domain name, an IP address or localhost.',
    [URL, 'example.org'],
    isUrl,
  ),
  opposite('is not a valid URL', 'Is not an absolute http, https or ftp address.', ['example.org', URL], isUrl),
  format('is a valid IP address', 'Is an IPv4 or IPv6 address.', ['192.0.2.1', '192.0.2.256'], isIpAddress),
  opposite(
    'is not a valid IP address',
    'Is neither an IPv4 nor an IPv6 address.',
    ['192.0.2.256', '192.0.2.1'],
    isIpAddress,
  ),
  format('is a valid IPV6 address', 'Is an IPv6 address, without a zone.', ['2001:db8::1', '192.0.2.1'], isIpv6Address),
  opposite('is not a valid IPV6 address', 'Is no IPv6 address.', ['192.0.2.1', '2001:db8::1'], isIpv6Address),
];
