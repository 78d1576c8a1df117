import { everyUnit, isDigit, isHexDigit } from './characters';

/** Longer texts are no addresses. */
const MAX_LENGTH = 45;

/** An IPv4 or IPv6 address. */
export const isIpAddress = (text: string): boolean => isIpv4Address(text) || isIpv6Address(text);

/** Four numbers from 0 to 255 without leading zeros. */
export const isIpv4Address = (text: string): boolean => {
  if (text.length > MAX_LENGTH) return false;
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
export const isIpv6Address = (text: string): boolean => {
  if (text.length > MAX_LENGTH) return false;
  const [before = '', after, ...more] = text.split('::');
  if (more.length > 0) return false;
  const head = groupsIn(before, after === undefined);
  if (after === undefined) return head === GROUPS;
  const tail = groupsIn(after, true);
  return head !== undefined && tail !== undefined && head + tail < GROUPS;
};

/** How many groups a part holds; undefined where one is not a group. */
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
