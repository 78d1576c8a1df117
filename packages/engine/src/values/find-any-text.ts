import { type HoldsText, searchFor } from '@decision/values';

/** Up to this number, the parts are searched one by one, which is faster on the platform than one pass for all. */
const FEW_PARTS = 16;

/** Prepares a search for any of several parts: linear in the text and in the parts, times the logarithm of the number of parts. */
export const searchForAny = (parts: readonly string[]): HoldsText => {
  const distinct = [...new Set(parts)];
  if (distinct.includes('')) return () => true;
  if (distinct.length > FEW_PARTS) return automatonSearch(distinct.sort());
  const searches = distinct.map(searchFor);
  return (text) => searches.some((holds) => holds(text));
};

/** The algorithm of Aho and Corasick: one pass over the text for any number of parts. */
const automatonSearch = (sorted: readonly string[]): HoldsText => {
  const automaton = new Automaton(sorted);
  return (text) => {
    let state = ROOT;
    for (let unit = 0; unit < text.length; unit += 1) {
      state = automaton.next(state, text.charCodeAt(unit));
      if (automaton.isEnd(state)) return true;
    }
    return false;
  };
};

const ROOT = 0;
const NONE = -1;

/**
 * The trie of all prefixes of the parts. States are numbered level by level, so that the children of a state are adjacent, in the order of their
 * units.
 */
class Automaton {
  /** By state: the unit that leads to it. */
  private readonly units: Uint16Array;
  /** By state: its first child; the children of the next state follow its last. */
  private readonly children: Int32Array;
  /** By state: its longest proper suffix that is also a prefix of a part. */
  private readonly fallbacks: Int32Array;
  private readonly ends: Uint8Array;

  constructor(sorted: readonly string[]) {
    const most = sorted.reduce((sum, part) => sum + part.length, 1);
    this.units = new Uint16Array(most);
    this.children = new Int32Array(most + 1);
    this.fallbacks = new Int32Array(most);
    this.ends = new Uint8Array(most);
    this.grow(sorted);
  }

  isEnd(state: number): boolean {
    return this.ends[state] === 1;
  }

  /** The longest prefix of a part with which the text ends after a unit is appended. */
  next(before: number, unit: number): number {
    let state = before;
    for (;;) {
      const child = this.childOf(state, unit);
      if (child !== NONE) return child;
      if (state === ROOT) return ROOT;
      state = this.fallbacks[state] ?? ROOT;
    }
  }

  private childOf(state: number, unit: number): number {
    const end = this.children[state + 1] ?? 0;
    let low = this.children[state] ?? 0;
    let high = end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.units[middle] ?? 0) < unit) low = middle + 1;
      else high = middle;
    }
    return low < end && this.units[low] === unit ? low : NONE;
  }

  /** Adds the states level by level. A part that has another part as its prefix is not followed to its end: the other is found first. */
  private grow(sorted: readonly string[]): void {
    let states = 1;
    let level: readonly Range[] = [{ state: ROOT, from: 0, to: sorted.length }];
    for (let depth = 0; level.length > 0; depth += 1) {
      const below: Range[] = [];
      for (const range of level) {
        this.children[range.state] = states;
        for (let from = range.from; from < range.to;) {
          const to = this.addChild(sorted, { ...range, from }, states, depth);
          if (this.ends[states] === 0) below.push({ state: states, from, to });
          states += 1;
          from = to;
        }
        this.children[range.state + 1] = states;
      }
      level = below;
    }
  }

  /** Adds the child to which the first part of a range leads; returns the end of the parts that lead to it. */
  private addChild(sorted: readonly string[], { state, from, to }: Range, child: number, depth: number): number {
    const unit = sorted[from]?.charCodeAt(depth) ?? 0;
    let end = from + 1;
    while (end < to && sorted[end]?.charCodeAt(depth) === unit) end += 1;
    const fallback = state === ROOT ? ROOT : this.next(this.fallbacks[state] ?? ROOT, unit);
    const isWhole = sorted[from]?.length === depth + 1;
    this.units[child] = unit;
    this.fallbacks[child] = fallback;
    this.ends[child] = Number(isWhole || this.isEnd(fallback));
    return end;
  }
}

/** A state, and the parts that start with its prefix. */
interface Range {
  readonly state: number;
  readonly from: number;
  readonly to: number;
}
