/** A semantic version: three numbers and the pre-release identifiers. */
export interface Version {
  /** Major, minor and patch as digits without leading zeros: of any length, so never rounded. */
  readonly numbers: readonly [major: string, minor: string, patch: string];
  /** Identifiers of a pre-release; none for a release. */
  readonly prerelease: readonly string[];
}

/** Longer texts are not versions. */
export const MAX_VERSION_LENGTH = 256;
const NUMBER = /^(0|[1-9][0-9]*)$/;
const IDENTIFIER = /^[0-9A-Za-z-]+$/;

/** Reads a version: `1.4.2`, `1.4.2-rc.1`, `1.4.2+build`. Also `1.4`, `1` and a leading `v`, with zeros for omitted numbers. */
export const parseVersion = (text: string): Version | undefined => {
  if (text.length > MAX_VERSION_LENGTH) return undefined;
  const bare = text.startsWith('v') || text.startsWith('V') ? text.slice(1) : text;
  const parts = splitVersion(bare);
  if (parts === undefined || parts.numbers.length > 3) return undefined;
  const [major = '0', minor = '0', patch = '0'] = parts.numbers;
  return { numbers: [major, minor, patch], prerelease: parts.prerelease };
};

/** Whether a text is a version in strict semantic versioning: three numbers and no `v`. */
export const isStrictVersion = (text: string): boolean =>
  text.length <= MAX_VERSION_LENGTH && splitVersion(text)?.numbers.length === 3;

/** The parts of a version, without build metadata; undefined if a part is malformed. */
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
/** Whether a range of at least one character consists of digits. */
const areDigits = (text: string, start: number, end: number): boolean => {
  for (let at = start; at < end; at += 1) if (!isDigit(text.charCodeAt(at))) return false;
  return end > start;
};
const isDigits = (text: string): boolean => areDigits(text, 0, text.length);
const isPrereleaseIdentifier = (part: string): boolean =>
  IDENTIFIER.test(part) && (!isDigits(part) || NUMBER.test(part));

/** Negative if the first precedes the second, positive if it follows, 0 if neither. A pre-release precedes its release. */
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

/** Whether a text is a pre-release from `from` to its end. Reads it in place, without allocations. */
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

/** As {@link compareVersions}, for the pre-release in a text from `from` on and another one; both follow the same numbers. */
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

/** A bound of a range. */
interface Comparator {
  readonly sign: '<' | '<=' | '>' | '>=' | '=';
  readonly version: Version;
}

/** Alternatives, one of which must hold. Each is a list of bounds, all of which must hold. */
export type VersionRange = readonly (readonly Comparator[])[];

const MAX_LENGTH = 1_000;

/**
 * Reads a range of versions in the syntax of package managers: `>=1.2.0 <2.0.0`, `^1.2`, `~1.2.3`, `1.x`, `*`, `1.2 - 2.3`, and alternatives
 * with `||`.
 */
export const parseVersionRange = (text: string): VersionRange | undefined => {
  if (text.length > MAX_LENGTH) return undefined;
  const alternatives = text.split('||').map(parseAlternative);
  return alternatives.every((alternative) => alternative !== undefined) ? alternatives : undefined;
};

/**
 * Whether a version lies in a range. A pre-release lies in it only if a bound of the alternative names a pre-release of the same three numbers:
 * neither `^1.2.0` nor `>1.2` admits `1.3.0-beta`. That is the convention of package managers; a bound expanded from a shorter version is not a
 * pre-release: `>1.2` starts at `1.3.0`.
 */
export const satisfies = (version: Version, range: VersionRange): boolean =>
  range.some(
    (alternative) =>
      alternative.every((comparator) => holds(version, comparator)) &&
      (version.prerelease.length === 0 || alternative.some((comparator) => admitsPrerelease(version, comparator))),
  );

const holds = (version: Version, { sign, version: bound }: Comparator): boolean => {
  const order = compareVersions(version, bound);
  switch (sign) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    case '=':
      return order === 0;
  }
};

const admitsPrerelease = ({ numbers }: Version, { version }: Comparator): boolean =>
  version.prerelease.length > 0 && version.numbers.every((part, index) => part === numbers[index]);

const HYPHEN = ' - ';

const parseAlternative = (text: string): readonly Comparator[] | undefined => {
  const hyphen = text.indexOf(HYPHEN);
  if (hyphen >= 0) return parseHyphen(text.slice(0, hyphen).trim(), text.slice(hyphen + HYPHEN.length).trim());
  const comparators: Comparator[] = [];
  for (const term of joinSigns(text)) {
    const parsed = parseTerm(term);
    if (parsed === undefined) return undefined;
    comparators.push(...parsed);
  }
  return comparators;
};

/** Terms between spaces; spaces may separate a sign from its version. */
const joinSigns = (text: string): readonly string[] => {
  const terms: string[] = [];
  let sign = '';
  for (const word of text.split(/\s/)) {
    if (word === '') continue;
    if (/^[<>=~^]+$/.test(word)) sign += word;
    else {
      terms.push(sign + word);
      sign = '';
    }
  }
  return sign === '' ? terms : [...terms, sign];
};

const parseHyphen = (from: string, to: string): readonly Comparator[] | undefined => {
  const low = parsePartial(from);
  const high = parsePartial(to);
  if (low === undefined || high === undefined) return undefined;
  return [at('>=', low.from), ...(high.isComplete ? [at('<=', high.from)] : below(high))];
};

const SIGNED = /^(\^|~|<=|>=|<|>|=)?(.*)$/;

const parseTerm = (term: string): readonly Comparator[] | undefined => {
  const [, sign = '', rest = ''] = SIGNED.exec(term) ?? [];
  const partial = parsePartial(rest);
  if (partial === undefined) return undefined;
  const { from, given, isComplete } = partial;
  const boundsNothing = given === 0 && (rest === '' || sign === '<' || sign === '>');
  if (sign !== '' && boundsNothing) return undefined;
  switch (sign) {
    case '^':
      return [
        at('>=', from),
        ...below({ ...partial, given: Math.min(partial.given, caretPlaces(from, partial.given)) }),
      ];
    case '~':
      return [at('>=', from), ...below({ ...partial, given: Math.min(partial.given, 2) })];
    case '>':
      return isComplete ? [at('>', from)] : below(partial).map(({ version }) => at('>=', release(version)));
    case '<=':
      return isComplete ? [at('<=', from)] : below(partial);
    case '<':
    case '>=':
      return [at(sign, from)];
    default:
      return isComplete ? [at('=', from)] : [at('>=', from), ...below(partial)];
  }
};

/** A version whose last numbers may be omitted, or be `x` or `*`. */
interface PartialVersion {
  /** The lowest version that it covers. */
  readonly from: Version;
  /** Number of given numbers. */
  readonly given: number;
  readonly isComplete: boolean;
}

const WILDCARDS = new Set(['x', 'X', '*']);

const parsePartial = (text: string): PartialVersion | undefined => {
  const parts = text.split('.');
  const wildcard = parts.findIndex((part) => WILDCARDS.has(part));
  if (text === '' || wildcard === 0)
    return parts.length <= 3 ? { from: ZERO_VERSION, given: 0, isComplete: false } : undefined;
  if (wildcard > 0 && (parts.length > 3 || !parts.slice(wildcard).every((part) => WILDCARDS.has(part))))
    return undefined;
  const from = parseVersion(wildcard < 0 ? text : parts.slice(0, wildcard).join('.'));
  if (from === undefined) return undefined;
  const numbers = (text.split(/[-+]/)[0] ?? '').split('.').length;
  const given = wildcard < 0 ? numbers : wildcard;
  return { from, given, isComplete: given === 3 };
};

const ZERO_VERSION: Version = { numbers: ['0', '0', '0'], prerelease: [] };

const release = ({ numbers }: Version): Version => ({ numbers, prerelease: [] });

const at = (sign: Comparator['sign'], version: Version): Comparator => ({ sign, version });

/** Below the next version at the last given number; no bound if no number is given. */
const below = ({ from, given }: PartialVersion): readonly Comparator[] => {
  if (given === 0) return [];
  const [major, minor, patch] = from.numbers;
  const next: Version['numbers'] =
    given === 1
      ? [increment(major), '0', '0']
      : given === 2
        ? [major, increment(minor), '0']
        : [major, minor, increment(patch)];
  return [at('<', { numbers: next, prerelease: ['0'] })];
};

/** A caret fixes the first non-zero number: `^1.2.3` is below 2, `^0.2.3` below 0.3, `^0.0.3` below 0.0.4. */
const caretPlaces = ({ numbers: [major, minor] }: Version, given: number): number => {
  if (major !== '0' || given === 1) return 1;
  return minor !== '0' || given === 2 ? 2 : 3;
};

const increment = (digits: string): string => (BigInt(digits) + 1n).toString();
