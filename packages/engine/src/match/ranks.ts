import {
  comparePrereleaseAt,
  compareVersions,
  isPrereleaseAt,
  MAX_VERSION_LENGTH,
  parseVersion,
  type Version,
} from '../operators/version';

/**
 * Rank of a value among ordered bounds: `2 * i + 1` if it equals bound `i`, `2 * i` if `i` bounds are less and none is equal. So ordered values
 * that are not numbers become points on a line. NaN for a value outside the order.
 */
export interface Ranking {
  /** Approximate memory of its bounds. */
  readonly bytes: number;
  readonly rankOf: (text: string) => number;
}

const VERSION_BYTES = 160;

/** The rank of a bound, by its index in the order. */
export const rankOfBound = (index: number): number => 2 * index + 1;

/** The numbers of a version packed into one double: 17, 18 and 18 bits. The last value of each represents all larger ones. */
const MINOR_VALUES = 2 ** 18;
const MAJOR_VALUES = 2 ** 17;
/** Versions from this one on cannot be packed. */
const TOO_LARGE = MAJOR_VALUES * MINOR_VALUES * MINOR_VALUES;

/** Ranks texts that are versions, by the order of semantic versioning. */
export class VersionRanking implements Ranking {
  private readonly bounds: readonly Version[];
  /** The numbers of each bound: they never descend, and are exact unless they are last values. */
  private readonly packed: Float64Array;

  constructor(bounds: readonly Version[]) {
    const sorted = [...bounds].sort(compareVersions);
    this.bounds = sorted.filter((bound, index) => {
      const before = sorted[index - 1];
      return before === undefined || compareVersions(before, bound) !== 0;
    });
    this.packed = Float64Array.from(this.bounds, ({ numbers }) => packNumbers(numbers));
  }

  get bytes(): number {
    return this.bounds.length * VERSION_BYTES;
  }

  /** The rank of a version that is one of the bounds. */
  rankOfVersion(version: Version): number {
    let low = 0;
    let high = this.bounds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const bound = this.bounds[middle];
      const order = bound === undefined ? 0 : compareVersions(bound, version);
      if (order === 0) return rankOfBound(middle);
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return 2 * low;
  }

  rankOf(text: string): number {
    const numbers = readRelease(text);
    if (numbers === numbers) return this.rankOfRelease(numbers);
    return this.rankOfUsualPrerelease(text) ?? this.rankOfParsed(text);
  }

  private rankOfParsed(text: string): number {
    const version = parseVersion(text);
    return version === undefined ? Number.NaN : this.rankOfVersion(version);
  }

  /** Rank of a release with exactly packed numbers: among the bounds with the same numbers, only the last can be a release. */
  private rankOfRelease(numbers: number): number {
    const end = firstAbove(this.packed, numbers);
    const isBound = this.packed[end - 1] === numbers && this.bounds[end - 1]?.prerelease.length === 0;
    return isBound ? rankOfBound(end - 1) : 2 * end;
  }

  /** Rank of a pre-release with exactly packed numbers; undefined for every other text. */
  private rankOfUsualPrerelease(text: string): number | undefined {
    const dash = text.indexOf('-');
    if (dash < 0 || text.length > MAX_VERSION_LENGTH) return undefined;
    const numbers = readRelease(text, dash);
    if (numbers !== numbers || !isPrereleaseAt(text, dash + 1)) return undefined;
    // All packed numbers are whole.
    let low = firstAbove(this.packed, numbers - 1);
    let high = firstAbove(this.packed, numbers);
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = comparePrereleaseAt(text, dash + 1, this.bounds[middle]?.prerelease ?? []);
      if (order === 0) return rankOfBound(middle);
      if (order > 0) low = middle + 1;
      else high = middle;
    }
    return 2 * low;
  }
}

/** The position of the first larger number. */
const firstAbove = (numbers: Float64Array, number: number): number => {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) <= number) low = middle + 1;
    else high = middle;
  }
  return low;
};

const packNumbers = (numbers: Version['numbers']): number => {
  const [major, minor, patch] = numbers.map(Number);
  if (major === undefined || minor === undefined || patch === undefined || major >= MAJOR_VALUES) return TOO_LARGE;
  const upper = (major * MINOR_VALUES + Math.min(minor, MINOR_VALUES - 1)) * MINOR_VALUES;
  return upper + (minor >= MINOR_VALUES - 1 ? MINOR_VALUES - 1 : Math.min(patch, MINOR_VALUES - 1));
};

const ZERO = 48;
const NINE = 57;
const DOT = 46;
const LOWER_V = 118;
const UPPER_V = 86;

/**
 * The packed numbers of a release in a text up to `end`, written with nothing extra except a leading `v`; NaN for every other text, even if it
 * is a version.
 */
const readRelease = (text: string, end = text.length): number => {
  const first = text.charCodeAt(0);
  let at = first === LOWER_V || first === UPPER_V ? 1 : 0;
  let result = 0;
  for (let part = 0; part < 3; part += 1) {
    let number = 0;
    if (at < end || part === 0) {
      const start = at;
      let unit = text.charCodeAt(at);
      while (unit >= ZERO && unit <= NINE && at - start < 7) {
        number = number * 10 + unit - ZERO;
        at += 1;
        unit = text.charCodeAt(at);
      }
      const isSpelt = at > start && (at === start + 1 || text.charCodeAt(start) !== ZERO);
      if (!isSpelt || number >= (part === 0 ? MAJOR_VALUES : MINOR_VALUES - 1)) return Number.NaN;
      if (at < end) {
        if (unit !== DOT || at === end - 1 || part === 2) return Number.NaN;
        at += 1;
      }
    }
    result = result * MINOR_VALUES + number;
  }
  return result;
};
