import { type Ranking, rankOfBound } from './ranks';

/** Bytes of a text without its characters plus a reference to it, and of a node of the tree. */
const TEXT_BYTES = 32;
const NODE_BYTES = 200;

/** Characters of a text in one key of 48 bits, 8 bits each; 0 is the end of a text. */
const KEY_UNITS = 6;
/** Unit of a key for every character larger than those of all bounds. No bound contains it, so characters after it are irrelevant. */
const LARGER = 255;
/** Largest character that fits into one unit of a key; a unit is one more than its character, so that the end of a text sorts first. */
const LARGEST_SMALL = LARGER - 2;
/** Units of keys for 16-bit characters: three of 17 bits each, in a double. */
const WIDE_KEY_UNITS = 3;
const WIDE_UNIT = 2 ** 17;
const HALF_KEY = 2 ** 24;

/**
 * Bounds with the same prefix, in order. Their shared characters are compared once; the next few are one number, so that bounds are
 * distinguished without access to their texts.
 */
interface BoundNode {
  /** Characters before this one have been compared. */
  readonly from: number;
  /** Characters that all bounds share from there on. */
  readonly shared: string;
  /** Next characters, ascending, each once. */
  readonly keys: Float64Array;
  /** Index of the first bound of each key, followed by the end of all bounds. */
  readonly starts: Uint32Array;
  /** By position of the key, if more than one bound has it. */
  readonly children: ReadonlyMap<number, BoundNode>;
}

/** Ranks texts by their UTF-16 units, from the start or, backwards, from the end. */
export class TextRanking implements Ranking {
  readonly bytes: number;
  /** Ascending and distinct. Bounds that are compared backwards are reversed here. */
  private readonly bounds: readonly string[];
  private readonly isWide: boolean;
  private readonly keyUnits: number;
  private readonly root: BoundNode | undefined;

  constructor(
    bounds: Iterable<string>,
    private readonly isBackwards: boolean,
  ) {
    this.bounds = [...new Set(bounds)].sort();
    this.isWide = this.bounds.some(hasLargeUnits);
    this.keyUnits = this.isWide ? WIDE_KEY_UNITS : KEY_UNITS;
    this.root = this.bounds.length === 0 ? undefined : this.nodeOf(0, this.bounds.length, 0);
    this.bytes = this.bounds.reduce((sum, { length }) => sum + TEXT_BYTES + length, bytesOf(this.root));
  }

  /** The ranks of the texts with a prefix, which is written in the direction of the bounds. */
  ranksOfPrefix(prefix: string): readonly [low: number, high: number] {
    const end = endOfPrefix(prefix);
    return [rankOfBound(this.indexOf(prefix)), end === undefined ? Infinity : rankOfBound(this.indexOf(end)) - 1];
  }

  /** Compares each character of the text at most once. */
  rankOf(text: string): number {
    let node = this.root;
    while (node !== undefined) {
      const { from, shared, keys, starts } = node;
      const order = this.compareFrom(text, from, shared);
      if (order !== 0) return 2 * (order < 0 ? (starts[0] ?? 0) : (starts[keys.length] ?? 0));
      const keyAt = from + shared.length;
      const key = this.isWide
        ? this.wideKeyOf(text, keyAt, this.isBackwards)
        : this.keyOf(text, keyAt, this.isBackwards);
      const at = firstNotBelow(keys, key);
      const start = starts[at] ?? 0;
      if (keys[at] !== key) return 2 * start;
      if ((starts[at + 1] ?? 0) - start === 1) return this.rankBeside(start, text, keyAt + this.keyUnits);
      node = node.children.get(at);
    }
    return 0;
  }

  /** The rank of a text that equals a bound in the characters before `from`, which no other bound shares. */
  private rankBeside(index: number, text: string, from: number): number {
    const bound = this.bounds[index] ?? '';
    if (from >= bound.length && from >= text.length) return rankOfBound(index);
    const order = this.compareFrom(text, from, bound, from);
    if (order !== 0) return order < 0 ? 2 * index : 2 * index + 2;
    return text.length > bound.length ? 2 * index + 2 : rankOfBound(index);
  }

  /** Compares the characters of a text from `from` on with those of a part from `partFrom` on: 0 if the text continues with the part. */
  private compareFrom(text: string, from: number, part: string, partFrom = 0): number {
    const { length } = text;
    const { isBackwards } = this;
    for (let at = partFrom; at < part.length; at += 1) {
      const position = from + at - partFrom;
      if (position >= length) return -1;
      const unit = text.charCodeAt(isBackwards ? length - 1 - position : position);
      const other = part.charCodeAt(at);
      if (unit !== other) return unit - other;
    }
    return 0;
  }

  private keyOf(text: string, from: number, isBackwards: boolean): number {
    const { length } = text;
    let upper = 0;
    let lower = 0;
    for (let at = 0; at < KEY_UNITS; at += 1) {
      const position = from + at;
      const unit =
        position < length ? Math.min(text.charCodeAt(isBackwards ? length - 1 - position : position) + 1, LARGER) : 0;
      if (at < KEY_UNITS / 2) upper = (upper << 8) | unit;
      else lower = (lower << 8) | unit;
    }
    return upper * HALF_KEY + lower;
  }

  private wideKeyOf(text: string, from: number, isBackwards: boolean): number {
    const { length } = text;
    let key = 0;
    for (let position = from; position < from + WIDE_KEY_UNITS; position += 1) {
      const unit = position < length ? text.charCodeAt(isBackwards ? length - 1 - position : position) + 1 : 0;
      key = key * WIDE_UNIT + unit;
    }
    return key;
  }

  /** The node of the bounds from `start` up to, not including, `end`: at least one, equal before `from`. */
  private nodeOf(start: number, end: number, from: number): BoundNode {
    const first = this.bounds[start] ?? '';
    const last = this.bounds[end - 1] ?? '';
    // Bounds are sorted: a prefix shared by the first and the last is shared by all.
    let sharedEnd = from;
    while (sharedEnd < first.length && first.charCodeAt(sharedEnd) === last.charCodeAt(sharedEnd)) sharedEnd += 1;
    const keys: number[] = [];
    const starts: number[] = [];
    for (let index = start; index < end; index += 1) {
      const key = this.keyOfBound(this.bounds[index] ?? '', sharedEnd);
      if (key === keys.at(-1)) continue;
      keys.push(key);
      starts.push(index);
    }
    starts.push(end);
    const children = new Map<number, BoundNode>();
    for (let at = 0; at < keys.length; at += 1) {
      const [low = 0, high = 0] = [starts[at], starts[at + 1]];
      if (high - low > 1) children.set(at, this.nodeOf(low, high, sharedEnd + this.keyUnits));
    }
    return {
      from,
      shared: first.slice(from, sharedEnd),
      keys: Float64Array.from(keys),
      starts: Uint32Array.from(starts),
      children,
    };
  }

  /** Bounds are written in the direction of comparison. */
  private keyOfBound(bound: string, from: number): number {
    return this.isWide ? this.wideKeyOf(bound, from, false) : this.keyOf(bound, from, false);
  }

  /** Index of a text that is one of the bounds. */
  private indexOf(bound: string): number {
    let low = 0;
    let high = this.bounds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.bounds[middle] ?? '') < bound) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const bytesOf = (node: BoundNode | undefined): number => {
  if (node === undefined) return 0;
  let bytes = NODE_BYTES + 2 * node.shared.length + node.keys.byteLength + node.starts.byteLength;
  for (const child of node.children.values()) bytes += bytesOf(child);
  return bytes;
};

const hasLargeUnits = (text: string): boolean => {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > LARGEST_SMALL) return true;
  return false;
};

/** The position of the first key that is greater than or equal to a key. */
const firstNotBelow = (keys: Float64Array, key: number): number => {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? 0) < key) low = middle + 1;
    else high = middle;
  }
  return low;
};

const LAST_UNIT = 0xffff;

/** The least text after all texts with a prefix; undefined if there is none. */
export const endOfPrefix = (prefix: string): string | undefined => {
  let length = prefix.length;
  while (length > 0 && prefix.charCodeAt(length - 1) === LAST_UNIT) length -= 1;
  if (length === 0) return undefined;
  return prefix.slice(0, length - 1) + String.fromCharCode(prefix.charCodeAt(length - 1) + 1);
};

/** A text with its UTF-16 units reversed. */
export const backwards = (text: string): string => {
  const units: string[] = [];
  for (let at = text.length - 1; at >= 0; at -= 1) units.push(text.charAt(at));
  return units.join('');
};
