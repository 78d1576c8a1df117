/** A version by semantic versioning: three numbers, and what stands before a release. */
export interface Version {
  /** Major, minor and patch as digits without leading zeros: of any length, so never rounded. */
  readonly numbers: readonly [major: string, minor: string, patch: string];
  /** Identifiers of a pre-release; none for a release. */
  readonly prerelease: readonly string[];
}

/** Longer texts are no versions. */
export const MAX_VERSION_LENGTH = 256;
const NUMBER = /^(0|[1-9][0-9]*)$/;
const IDENTIFIER = /^[0-9A-Za-z-]+$/;

/** Reads a version: `1.4.2`, `1.4.2-rc.1`, `1.4.2+build`. Also `1.4`, `1` and a leading `v`, with zeros for what is left out. */
export const parseVersion = (text: string): Version | undefined => {
  if (text.length > MAX_VERSION_LENGTH) return undefined;
  const bare = text.startsWith('v') || text.startsWith('V') ? text.slice(1) : text;
  const parts = splitVersion(bare);
  if (parts === undefined || parts.numbers.length > 3) return undefined;
  const [major = '0', minor = '0', patch = '0'] = parts.numbers;
  return { numbers: [major, minor, patch], prerelease: parts.prerelease };
};

/** Whether a text is a version to the letter of semantic versioning: three numbers and no `v`. */
export const isStrictVersion = (text: string): boolean =>
  text.length <= MAX_VERSION_LENGTH && splitVersion(text)?.numbers.length === 3;

/** The parts of a version, build metadata left out; undefined where a part is not what it must be. */
const splitVersion = (
  text: string,
): { readonly numbers: readonly string[]; readonly prerelease: readonly string[] } | undefined => {
  const plus = text.indexOf('+');
  if (plus >= 0 && !isIdentifiers(text.slice(plus + 1))) return undefined;
  const version = plus < 0 ? text : text.slice(0, plus);
  const dash = version.indexOf('-');
  const numbers = (dash < 0 ? version : version.slice(0, dash)).split('.');
  if (!numbers.every((part) => NUMBER.test(part))) return undefined;
  if (dash < 0) return { numbers, prerelease: [] };
  const prerelease = version.slice(dash + 1).split('.');
  return prerelease.every(isPrereleaseIdentifier) ? { numbers, prerelease } : undefined;
};

const isIdentifiers = (text: string): boolean => text.split('.').every((part) => IDENTIFIER.test(part));

const ZERO = 48;
const NINE = 57;
const UPPER_A = 65;
const UPPER_Z = 90;
const isDigit = (unit: number): boolean => unit >= ZERO && unit <= NINE;
const isLetter = (unit: number): boolean => {
  const upper = unit & ~32;
  return upper >= UPPER_A && upper <= UPPER_Z;
};
/** Whether a stretch of at least one character consists of digits. */
const areDigits = (text: string, start: number, end: number): boolean => {
  for (let at = start; at < end; at += 1) if (!isDigit(text.charCodeAt(at))) return false;
  return end > start;
};
const isDigits = (text: string): boolean => areDigits(text, 0, text.length);
const isPrereleaseIdentifier = (part: string): boolean =>
  IDENTIFIER.test(part) && (!isDigits(part) || NUMBER.test(part));

/** Negative where the first comes before the second, 0 where neither does. A pre-release comes before its release. */
export const compareVersions = (a: Version, b: Version): number =>
  compareDigits(a.numbers[0], b.numbers[0]) ||
  compareDigits(a.numbers[1], b.numbers[1]) ||
  compareDigits(a.numbers[2], b.numbers[2]) ||
  comparePrereleases(a.prerelease, b.prerelease);

const compareDigits = (a: string, b: string): number => a.length - b.length || compareText(a, b);

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

const comparePrereleases = (a: readonly string[], b: readonly string[]): number => {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const order = compareIdentifiers(a[index] ?? '', b[index] ?? '');
    if (order !== 0) return order;
  }
  return a.length - b.length;
};

/** Numbers by size, before words; words by their characters. */
const compareIdentifiers = (a: string, b: string): number => {
  const [numericA, numericB] = [isDigits(a), isDigits(b)];
  if (numericA && numericB) return compareDigits(a, b);
  return numericA === numericB ? compareText(a, b) : numericA ? -1 : 1;
};

const DASH = 45;
const DOT = 46;

/** Whether a text is a pre-release from `from` on, to its end. Looks at it where it stands: nothing is made of it. */
export const isPrereleaseAt = (text: string, from: number): boolean => {
  let start = from;
  for (let at = from; at <= text.length; at += 1) {
    const unit = at < text.length ? text.charCodeAt(at) : DOT;
    if (unit === DOT) {
      if (at === start || (at - start > 1 && text.charCodeAt(start) === ZERO && areDigits(text, start, at)))
        return false;
      start = at + 1;
    } else if (unit !== DASH && !isDigit(unit) && !isLetter(unit)) return false;
  }
  return true;
};

/** As {@link compareVersions}, of the pre-release that a text is from `from` on, and another one; both have the same numbers before them. */
export const comparePrereleaseAt = (text: string, from: number, other: readonly string[]): number => {
  if (other.length === 0) return -1;
  let start = from;
  for (const identifier of other) {
    if (start > text.length) return -1;
    const dot = text.indexOf('.', start);
    const end = dot < 0 ? text.length : dot;
    const order = compareIdentifierAt(text, start, end, identifier);
    if (order !== 0) return order;
    start = end + 1;
  }
  return start > text.length ? 0 : 1;
};

const compareIdentifierAt = (text: string, start: number, end: number, other: string): number => {
  const [numeric, otherNumeric] = [areDigits(text, start, end), areDigits(other, 0, other.length)];
  if (numeric !== otherNumeric) return numeric ? -1 : 1;
  const length = end - start;
  if (numeric && length !== other.length) return length - other.length;
  const shared = Math.min(length, other.length);
  for (let at = 0; at < shared; at += 1) {
    const order = text.charCodeAt(start + at) - other.charCodeAt(at);
    if (order !== 0) return order;
  }
  return length - other.length;
};
