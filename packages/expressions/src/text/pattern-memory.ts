/** Memory of a compiled pattern of the texts that it has read: the states of its automaton, which it builds while it reads. */
export interface PatternStates {
  /** Bytes that all states may take, by the count of the library; about half of what the heap holds. */
  readonly maxMem: number;
  /** Bytes of them that are left. */
  readonly memBudget: number;
  /** Forgets all states; they are built again as texts need them. */
  readonly clearCache: () => void;
}

/** Patterns with fewer bytes are not counted: almost all are, and stay, among them. */
const SMALL = 16_384;

/**
 * Keeps the states of all patterns of a process together within a number of bytes. One hostile pattern can build 8 MB of states from one text, and a
 * rule can have hundreds of them. Patterns that built states longest ago forget theirs first.
 */
export class PatternMemory {
  private readonly sizes = new Map<PatternStates, number>();
  private sum = 0;

  /** @param bound Bytes that states may take together, by the count of the library. */
  constructor(private readonly bound: number) {}

  /** Bytes that are counted now. */
  get used(): number {
    return this.sum;
  }

  /** Takes note of a pattern that has just read a text. */
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

  /** Makes room for a while: down to three quarters of the bound. */
  private forget(): void {
    for (const [states, size] of this.sizes) {
      if (this.sum <= this.bound * 0.75) return;
      this.sizes.delete(states);
      this.sum -= size;
      states.clearCache();
    }
  }
}

/** That of this process: 32 MB by count, about 70 MB of heap. */
export const patternMemory = new PatternMemory(33_554_432);
