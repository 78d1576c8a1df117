import { RE2JS, RE2JSException } from 're2js';
import { formulaLimits } from '../syntax/nodes';

/** The states of a pattern's automaton, which it builds while it reads texts. */
export interface PatternStates {
  /** Bytes that all states may take, by the count of the library; about half of what the heap holds. */
  readonly maxMem: number;
  /** Bytes that are still available. */
  readonly memBudget: number;
  /** Drops all states; they are rebuilt as needed. */
  readonly clearCache: () => void;
}

/** Patterns with fewer bytes are not counted; almost all stay below it. */
const SMALL = 16_384;

/**
 * Bounds the memory of the states of all patterns of a process. One hostile pattern can build 8 MB of states from one text, and a rule can
 * have hundreds of them. Patterns that built states longest ago drop theirs first.
 */
export class PatternMemory {
  private readonly sizes = new Map<PatternStates, number>();
  private sum = 0;

  /** @param bound Maximum bytes of all states together, by the count of the library. */
  constructor(private readonly bound: number) {}

  /** Bytes that are counted now. */
  get used(): number {
    return this.sum;
  }

  /** Records that a pattern has read a text. */
  note(states: PatternStates): void {
    const size = states.maxMem - states.memBudget;
    if (size <= SMALL) return;
    const earlier = this.sizes.get(states);
    if (earlier === size) return;
    this.sizes.delete(states);
    this.sizes.set(states, size);
    this.sum += size - (earlier ?? 0);
    if (this.sum > this.bound) this.forget();
  }

  /** Frees memory down to three quarters of the bound, so that it is not called again soon. */
  private forget(): void {
    for (const [states, size] of this.sizes) {
      if (this.sum <= this.bound * 0.75) return;
      this.sizes.delete(states);
      this.sum -= size;
      states.clearCache();
    }
  }
}

/** The bound of this process: 32 MB by count, about 70 MB of heap. */
export const patternMemory = new PatternMemory(33_554_432);

/** A regular expression that runs in time linear in the text. */
export interface Pattern {
  /** Instructions of its program: the maximum cost of one character. */
  readonly size: number;
  /** Cost of compiling it, in instructions: classes of Unicode cost more than one. */
  readonly weight: number;
  /** Whether some part of the text matches; `^` and `$` anchor it to the ends. */
  readonly test: (text: string) => boolean;
}

export type PatternParsing =
  { readonly ok: true; readonly pattern: Pattern } | { readonly ok: false; readonly reason: string };

/** Compiles a regular expression of RE2 syntax: no look-around and no back-references. Takes a tenth of a second at most. */
export const parsePattern = (source: string): PatternParsing => {
  const reason = tooLarge(source);
  if (reason !== undefined) return { ok: false, reason };
  try {
    const compiled = RE2JS.compile(source);
    const size = compiled.programSize();
    if (size > formulaLimits.patternSize) return { ok: false, reason: unfolded(String(size)) };
    return { ok: true, pattern: { size, weight: size + classWeight(source), test: tester(compiled) } };
  } catch (error) {
    if (error instanceof RE2JSException)
      return { ok: false, reason: error.message.replace('error parsing regexp: ', '') };
    throw error;
  }
};

const tester = (compiled: RE2JS): Pattern['test'] => {
  const expression = compiled.re2();
  return (text) => {
    const matches = compiled.test(text);
    // Simple patterns never make an automaton; asking for `dfa` would make one.
    const states: ReturnType<RE2JS['re2']>['lazyDFA'] | null = expression.lazyDFA;
    if (states !== null) patternMemory.note(states);
    return matches;
  };
};

/** Checks that refuse patterns before compilation, because compiling them would take long. */
const tooLarge = (source: string): string | undefined => {
  if (source.length > formulaLimits.patternLength) return `it has more than ${formulaLimits.patternLength} characters`;
  const repetitions = repetitionsIn(source);
  if (repetitions > MOST_REPETITIONS) return unfolded(`${repetitions} or more`);
  return classWeight(source) > MOST_CLASS_WEIGHT
    ? 'it has too many character classes beyond ASCII that ignore case'
    : undefined;
};

const unfolded = (size: string): string =>
  `its repetitions unfold to ${size} instructions; ${formulaLimits.patternSize} are allowed`;

/** Repetitions as written; those inside classes are also counted, which is harmless since few occur there. */
const REPETITION = /\{([0-9]{1,9})(?:,([0-9]{0,9}))?\}/g;
const MOST_REPETITIONS = 10 * formulaLimits.patternSize;

const repetitionsIn = (source: string): number => {
  let sum = 0;
  for (const [, least = '', most = ''] of source.matchAll(REPETITION)) sum += Math.max(Number(least), Number(most));
  return sum;
};

const UNICODE_CLASS = /\\[pP]/g;
const CLASS = /\[/g;
const IGNORES_CASE = /\(\?[A-Za-z-]*i/;
const BEYOND_ASCII = /[^\0-\x7f]|\\x/;
/** Equivalent number of instructions by measured compilation time: 10 microseconds each. */
const WEIGHT = { unicode: 10, folded: 25, wideFolded: 700 } as const;
const MOST_CLASS_WEIGHT = 10_000;

const classWeight = (source: string): number => {
  const unicode = source.match(UNICODE_CLASS)?.length ?? 0;
  if (!IGNORES_CASE.test(source)) return unicode * WEIGHT.unicode;
  const classes = source.match(CLASS)?.length ?? 0;
  const isWide = BEYOND_ASCII.test(source);
  return unicode * WEIGHT.folded + classes * (isWide ? WEIGHT.wideFolded : WEIGHT.folded);
};
