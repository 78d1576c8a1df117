import { compareVersions, parseVersion, type Version } from './version';

/** A bound of a range. */
interface Comparator {
  readonly sign: '<' | '<=' | '>' | '>=' | '=';
  readonly version: Version;
}

/** Alternatives, of which one must hold, each of bounds, all of which must. */
export type VersionRange = readonly (readonly Comparator[])[];

const MAX_LENGTH = 1_000;

/**
 * Reads a range of versions as package managers write them: `>=1.2.0 <2.0.0`, `^1.2`, `~1.2.3`, `1.x`, `*`, `1.2 - 2.3`, and
 * alternatives with `||`.
 */
export const parseVersionRange = (text: string): VersionRange | undefined => {
  if (text.length > MAX_LENGTH) return undefined;
  const alternatives = text.split('||').map(parseAlternative);
  return alternatives.every((alternative) => alternative !== undefined) ? alternatives : undefined;
};

/**
 * Whether a version lies in a range. A pre-release only does where a bound of the alternative names a pre-release of the same three
 * numbers: neither `^1.2.0` nor `>1.2` admits `1.3.0-beta`. That is the convention of package managers; a bound that a shorter version stands for
 * is no pre-release: `>1.2` begins at `1.3.0`.
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

/** Terms between spaces; a sign may stand apart from its version. */
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

/** A version of which the last numbers may be left out, or be `x` or `*`. */
interface PartialVersion {
  /** The lowest version that it means. */
  readonly from: Version;
  /** How many numbers are given. */
  readonly given: number;
  readonly isComplete: boolean;
}

const WILDCARDS = new Set(['x', 'X', '*']);

const parsePartial = (text: string): PartialVersion | undefined => {
  const parts = text.split('.');
  const wildcard = parts.findIndex((part) => WILDCARDS.has(part));
  if (text === '' || wildcard === 0) return parts.length <= 3 ? { from: ZERO, given: 0, isComplete: false } : undefined;
  if (wildcard > 0 && (parts.length > 3 || !parts.slice(wildcard).every((part) => WILDCARDS.has(part))))
    return undefined;
  const from = parseVersion(wildcard < 0 ? text : parts.slice(0, wildcard).join('.'));
  if (from === undefined) return undefined;
  const numbers = (text.split(/[-+]/)[0] ?? '').split('.').length;
  const given = wildcard < 0 ? numbers : wildcard;
  return { from, given, isComplete: given === 3 };
};

const ZERO: Version = { numbers: ['0', '0', '0'], prerelease: [] };

const release = ({ numbers }: Version): Version => ({ numbers, prerelease: [] });

const at = (sign: Comparator['sign'], version: Version): Comparator => ({ sign, version });

/** Below the next version at the last given number; nothing where no number is given. */
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

/** A caret holds the first number that is not zero: `^1.2.3` is below 2, `^0.2.3` below 0.3, `^0.0.3` below 0.0.4. */
const caretPlaces = ({ numbers: [major, minor] }: Version, given: number): number => {
  if (major !== '0' || given === 1) return 1;
  return minor !== '0' || given === 2 ? 2 : 3;
};

const increment = (digits: string): string => (BigInt(digits) + 1n).toString();
